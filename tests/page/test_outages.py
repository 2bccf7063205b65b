# SPDX-License-Identifier: Apache-2.0
"""What is seen when the service does not answer for a while, or not all that is asked."""

from __future__ import annotations

import pytest

from heatconv.testing.failures import FailureRule, Outcome
from tests.page.shop import SHOP, create, stack_page, until


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


@pytest.mark.parametrize(("part", "asked"), [("", "stacks?"), ("service", "services")])
def test_i_look_at_all_of_it_while_the_engine_restarts(page, client, between, part, asked):
    """I see that what I see is old, and am not bothered by it again and again."""
    name = f"shop-{part}"
    create(client, name, SHOP)
    until(page, client, name, "CREATE_COMPLETE")

    def come_back():
        """Look at the page after having looked elsewhere."""
        page.driver.execute_script("document.dispatchEvent(new Event('visibilitychange'))")

    page.open(part)
    page.see("Live", ".connection")
    page.see("heatconv-all" if part else name, "tbody")
    between.refuse(asked, 503)
    come_back()
    page.see("No connection", ".connection")
    assert not page.all(".notice")
    between.refuse(asked, 500)
    come_back()
    page.see("there is nobody behind this proxy", ".notice")
    page.see("Live", ".connection")
    between.pass_on()
    come_back()
    page.wait(lambda: not page.all(".notice"), "what went wrong is to be over")


def test_what_i_have_pressed_says_that_it_did_not_work(page, client, between):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    stack_page(page, client, "shop")
    between.refuse("/actions", 404)
    page.press("Check")
    page.press("Yes, do it", "dialog")
    page.see("there is nobody behind this proxy", ".notice")
    assert "not there any more" not in page.text()


def test_i_open_a_resource_that_cannot_be_read_now(page, client, between):
    """It says so, and what is known of it already is there; I ask again when I like."""
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    stack_page(page, client, "shop")
    page.becomes("web", "done")
    between.refuse("/resources/web", 503)
    page.click_box("web")
    page.see("there is nobody behind this proxy", ".panel")
    page.see("create complete", ".panel .badge")
    between.pass_on()
    page.press("Ask again", ".panel")
    page.see("Id in its service", ".panel")
    assert "nobody" not in page.read(".panel")
    assert not page.all(".notice")
