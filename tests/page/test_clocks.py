# SPDX-License-Identifier: Apache-2.0
"""Times, as they are where somebody reads them: in another zone, or by a clock that is wrong."""

from __future__ import annotations

import pytest

from tests.page.shop import SHOP, create, until

#: A clock that is ten minutes fast.
_FAST = "const right = Date.now.bind(Date); Date.now = () => right() + 600000;"


@pytest.fixture
def far_away(page):
    """Read it in Tokyo."""
    page.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Tokyo"})
    yield
    page.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})


@pytest.fixture
def fast_clock(page):
    script = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _FAST})
    yield
    page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


@pytest.mark.usefixtures("far_away")
def test_a_daemon_has_been_heard_of_just_now_in_any_zone(page):
    page.open("service")
    page.see("alive", "tbody")
    assert "hour" not in page.read("tbody")


@pytest.mark.usefixtures("fast_clock")
def test_my_clock_is_fast_and_what_has_just_happened_has(page, client):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    page.open()
    page.see("create complete", "tbody")
    assert "minute" not in page.read("tbody")
