# SPDX-License-Identifier: Apache-2.0
"""What is seen when the service does not answer for a while, or not all that is asked."""

from __future__ import annotations

import pytest

from heatconv.testing.failures import FailureRule, Outcome
from tests.page.between import standing_between
from tests.page.shop import SHOP, create, stack_page, until


@pytest.fixture
def between(page):
    with standing_between(page) as standing:
        yield standing


@pytest.mark.parametrize("asked", ["stacks/", "permissions"])
def test_i_open_my_stack_while_the_service_restarts(page, client, between, asked):
    """It comes by itself, and is followed then."""
    name = f"shop-{asked[:5]}"
    create(client, name, SHOP)
    until(page, client, name, "CREATE_COMPLETE")
    between.refuse(asked, 503)
    page.open("stacks", name, client.show_stack(name)["id"])
    page.see("No connection", ".connection")
    assert not page.all(".notice")
    between.pass_on()
    page.becomes("web", "done")
    page.see("Live", ".connection")
    page.see("Check", "[aria-label=Actions]")
    client.mark_resource(name, "web", unhealthy=True, reason="its disk is full")
    page.becomes("web", "broken")


@pytest.mark.parametrize(
    ("part", "box"), [("explanation", ".why-box"), ("events", ".now"), ("picture", ".canvas")]
)
def test_i_may_not_see_all_of_it(page, client, between, part, box):
    """What the policy denies is not there; the rest is, and goes on."""
    name = f"shop-{part}"
    create(client, name, SHOP)
    until(page, client, name, "CREATE_COMPLETE")
    between.refuse(f"/{part}?" if part == "events" else f"/{part}", 403)
    stack_page(page, client, name, "resources", "web")
    page.see("create complete", ".title")
    page.see("Live", ".connection")
    client.act(name, "check")
    page.see("check complete", ".title")
    assert not any(each.is_displayed() for each in page.all(box))
    assert not page.all(".notice")


def test_what_a_change_has_me_look_at_is_read_once_there_is_an_answer(page, client, cloud, between):
    """The service goes in the very moment in which there is something to say."""
    cloud.hold_after(1)
    create(client, "shop", SHOP)
    stack_page(page, client, "shop")
    page.see("Why is it not done?", ".why-box")
    between.refuse("/explanation", 503)
    cloud.fail(FailureRule(op="create", name="*database*", status=409, outcome=Outcome.REFUSE, times=None))
    cloud.release()
    page.see("create failed", ".title")
    page.see("No connection", ".connection")
    between.pass_on()
    page.see("What went wrong?", ".why-box")
    page.see("Live", ".connection")
    assert not page.all(".notice")
