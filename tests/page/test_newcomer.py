# SPDX-License-Identifier: Apache-2.0
"""Why is it stuck? What somebody finds who has the page alone, by how many presses, and what it says.

How a first stack comes about is the first of ``test_stories``.
"""

from __future__ import annotations

import pytest

from heatconv.testing.failures import FailureRule, Outcome
from tests.page.shop import SHOP, create, until


@pytest.fixture
def presses(page):
    """Return a function that presses something, and the list of what was pressed."""
    pressed = []

    def press(label, within="body"):
        page.press(label, within)
        pressed.append(label)

    return press, pressed


def test_nobody_signals_what_it_waits_for(page, client, presses):
    handle = {"type": "OS::Heat::WaitConditionHandle"}
    waiting = {"handle": {"get_resource": "handle"}, "timeout": 600, "count": 2}
    ready = {"type": "OS::Heat::WaitCondition", "properties": waiting}
    resources = {"handle": handle, "ready": ready}
    create(client, "waits", {"heat_template_version": "2021-04-16", "resources": resources})
    press, pressed = presses
    page.open()
    page.see("waits", "tbody")
    press("waits", "tbody")
    page.see("ready", ".why-box li")
    page.see("signal", ".why-box li")
    page.keep("nobody-signals")
    assert pressed == ["waits"]


def test_the_cloud_refuses_it(page, client, cloud, presses):
    rule = FailureRule(op="create", name="*database*", status=409, outcome=Outcome.REFUSE, times=None)
    cloud.fail(rule)
    create(client, "refused", SHOP)
    until(page, client, "refused", "CREATE_FAILED")
    press, pressed = presses
    page.open()
    page.see("database", "tbody .why")
    assert pressed == [], "the list says it already"
    press("refused", "tbody")
    page.see("409", ".why-box li")
    press("database", ".why-box")
    page.see("409", ".panel .reason")
    assert pressed == ["refused", "database"]
