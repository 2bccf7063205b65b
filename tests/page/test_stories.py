# SPDX-License-Identifier: Apache-2.0
"""What people do with the page, in their own words."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest
from selenium.webdriver.common.keys import Keys

from heatconv.testing.failures import FailureRule, Outcome
from heatconv.testing.templates import DISK, Template, thing
from tests.page.shop import LONG, SHOP, YAML, create, stack_page, until


def test_i_am_new_here_and_make_my_first_stack(page, cloud):
    """From nothing to a running stack, by the page alone."""
    cloud.hold_after(1)
    page.open()
    page.see("There are no stacks yet.")
    page.press("Create a stack")
    page.write("#stack-name", "shop")
    page.write("#template", YAML)
    page.press("Make a plan")
    page.see("+ 2 create", ".counts")
    page.see("web", ".planned")
    page.keep("a-plan")
    page.press("Apply this plan")

    page.see("create in progress", ".title")
    page.becomes("network", "done")
    page.becomes("web", "moving")
    page.see("1 of 2 steps", ".title")
    page.keep("being-created")
    page.driver.execute_script("window.sameAsBefore = true")
    cloud.release()
    page.becomes("web", "done")
    page.see("create complete", ".title")
    page.see("address", ".outputs")
    page.see("w", ".outputs .value")
    assert page.driver.execute_script("return window.sameAsBefore"), "it was loaded anew"


def test_my_stack_is_stuck_and_i_want_to_know_why(page, client):
    fleet = SHOP.but(
        security_group=thing("sg"),
        subnet=thing("10.0.0.0/26", depends_on=["network"]),
        router=thing("r", depends_on=["subnet"]),
        volume=thing("v", type=DISK),
        database=thing("db", depends_on=["subnet", "security_group", "volume"], wait=LONG),
        web=thing("w", depends_on=["subnet", "security_group", "database"]),
        second_web=thing("w", depends_on=["subnet", "security_group", "database"]),
        balancer=thing("b", depends_on=["web", "second_web", "router"]),
    )
    create(client, "shop", fleet, tags="production")
    page.open()
    page.see("create in progress", "tr.moving")
    page.press("shop")
    page.see("Why is it not done?")
    page.see("database", ".why-box")
    page.see("its service is not done", ".why-box")
    page.becomes("database", "moving")
    page.becomes("router", "done")
    page.becomes("web", "waiting")
    page.press("database", ".why-box")
    page.see("Why it waits", ".panel")
    page.see("db", ".panel .value")
    page.keep("stuck")
    client.delete_stack("shop")


def test_what_has_failed_comes_first_and_says_why(page, client, cloud):
    for number in range(3):
        create(client, f"fine-{number}", SHOP)
        until(page, client, f"fine-{number}", "CREATE_COMPLETE")
    cloud.fail(FailureRule(op="create", name="*database*", status=409, outcome=Outcome.REFUSE, times=None))
    create(client, "broken", SHOP)
    until(page, client, "broken", "CREATE_FAILED")
    create(client, "younger", Template(one=thing("1")))
    until(page, client, "younger", "CREATE_COMPLETE")
    page.open()
    page.see("younger", "tbody")
    assert "broken" in page.read("tbody tr")
    page.see("create failed", "tbody tr:first-child")
    page.keep("overview")
    page.press("broken")
    page.see("What went wrong?")
    page.see("database", ".why-box")
    page.becomes("database", "broken")
    page.becomes("network", "done")
    page.see("1 failed", ".legend")


def test_i_delete_what_i_do_not_need_and_not_by_mistake(page, client):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    stack_page(page, client, "shop")
    page.press("Delete…")
    page.see("cannot be taken back", "dialog")
    assert not page.find("dialog button.danger").is_enabled()
    page.write("#entry", "shopping")
    assert not page.find("dialog button.danger").is_enabled()
    page.press("Cancel", "dialog")
    assert client.show_stack("shop")["stack_status"] == "CREATE_COMPLETE"
    page.press("Delete…")
    page.write("#entry", "shop")
    page.press("Delete the stack", "dialog")
    page.see("delete complete", ".title")
    page.open()
    page.see("There are no stacks yet.")


def test_i_change_it_and_think_better_of_it(page, client, cloud):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    stack_page(page, client, "shop")
    cloud.hold_after(0)
    page.press("Update")
    page.wait(
        lambda: "network" in page.find("#template").get_attribute("value"), "the template is to be there"
    )
    cache = thing("c", depends_on=["network"])
    web = thing("other", type=DISK, depends_on=["cache"])
    page.write("#template", json.dumps(SHOP.but(web=web, cache=cache).hot()))
    page.press("Make a plan")
    page.find('.edge[data-required="=network"][data-by="=cache"]')
    page.find('.edge[data-required="=cache"][data-by="=web"]')
    page.find('.box.to-create[data-key="=cache"]')
    page.find('.box.to-replace[data-key="=web"]')
    page.click('.box.to-none[data-key="=network"]')
    page.keep("a-plan-on-the-graph")
    page.write(
        "#template", json.dumps(SHOP.but(web=thing("other", depends_on=["network", "database"])).hot())
    )
    page.press("Make a plan")
    page.see("~ 1 change in place", ".counts")
    page.find('.box.to-update[data-key="=web"]')
    page.see("other", ".planned")
    page.press("Apply this plan")
    page.see("update in progress", ".title")
    page.becomes("web", "moving")
    page.press("Cancel and roll back")
    page.press("Yes, do it", "dialog")
    page.see("rollback in progress", ".title")
    cloud.release()
    page.see("rollback complete", ".title")
    page.becomes("web", "done")

    page.press("History")
    page.see("rollback complete", "details")
    page.see("update in progress, until the next began", "details")
    page.see("create complete", "details")
    page.click_box("web")
    page.press("Show in the template", ".panel")
    page.see("web:", ".part.marked")
    page.see("value: w", ".part.marked")
    page.press("database", ".panel")
    page.see("database:", ".part.marked")
    page.keep("template-and-history")


def test_i_change_one_value_and_the_rest_of_what_was_said_stays(page, client):
    """An environment that is sent with an update is not all that there is."""
    template = json.loads(json.dumps(SHOP.hot()))
    template["parameters"] = {"size": {"type": "string"}, "colour": {"type": "string"}}
    said = {"parameters": {"size": "small"}, "parameter_defaults": {"colour": "red"}}
    create(client, "shop", template, environment=said, tags="production")
    until(page, client, "shop", "CREATE_COMPLETE")
    stack_page(page, client, "shop")
    page.press("Update")
    page.wait(
        lambda: "network" in page.find("#template").get_attribute("value"), "the template is to be there"
    )
    page.write("#environment", "parameters: {size: large}")
    page.press("Make a plan")
    page.press("Apply this plan")
    page.see("update complete", ".title")
    page.see("production", ".tags")
    kept = client.get_environment("shop")
    assert (kept["parameters"], kept["parameter_defaults"]) == ({"size": "large"}, {"colour": "red"})


def test_somebody_has_changed_it_behind_my_back(page, client, cloud):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    stack_page(page, client, "shop")
    page.becomes("web", "done")
    web = client.show_resource("shop", "web")["physical_resource_id"]
    cloud.cloud.update(web, {"value": "meddled"})
    page.press("Look for drift")
    page.press("Yes, do it", "dialog")
    page.see("Drifted", ".title")
    page.becomes("web", "drifted")
    page.click_box("web")
    page.see("What has drifted", ".panel")
    page.see("meddled", ".panel")
    page.keep("drifted")
    page.press("Put right", "[aria-label=Actions]")
    page.press("Yes, do it", "dialog")
    page.becomes("web", "done")
    page.see("update complete", ".title")
    page.press("Look for drift", "[aria-label=Actions]")
    page.press("Yes, do it", "dialog")
    page.wait(lambda: "Drifted" not in page.read(".title"), "it is to be in sync")


def test_i_mark_a_sick_server_so_that_it_is_replaced(page, client):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    stack_page(page, client, "shop", "resources", "web")
    page.press("Mark as unhealthy", ".panel")
    page.write("#entry", "its disk is full")
    page.press("Yes, do it", "dialog")
    page.becomes("web", "broken")
    page.see("its disk is full", ".panel")
    page.see("Mark as healthy", ".panel")
    page.press("Show the attributes", ".panel")
    page.see("name", ".panel dl")


def test_i_look_at_a_resource_and_its_attributes_are_asked_for_when_i_want_them(page, client):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    stack_page(page, client, "shop", "resources", "web")
    page.see("Id in its service", ".panel dl")
    assert asked_of(page, "web") == {"?with_detail=false"}
    page.press("Show the attributes", ".panel")
    page.wait(lambda: "?with_detail=true" in asked_of(page, "web"), "its attributes are to be asked for")
    page.see("name", ".panel dl")


def asked_of(page, name):
    """Return the queries with which the page has asked for a resource."""
    asked = "return performance.getEntriesByType('resource').map((each) => each.name)"
    parts = (urlsplit(each) for each in page.driver.execute_script(asked))
    return {f"?{each.query}" for each in parts if each.path.endswith(f"/resources/{name}")}


def test_a_name_with_a_dot_leads_to_the_resource_of_that_name(page, client):
    create(client, "shop", Template(**{"db": thing("a"), "db.primary": thing("b", wait=LONG)}))
    stack_page(page, client, "shop")
    page.press("db.primary", ".why-box")
    page.see("db.primary", ".panel h2")
    page.see("Why it waits", ".panel")
    page.click_box("db")
    page.wait(lambda: page.read(".panel h2") == "db", "the other one is to be shown")
    assert "Why it waits" not in page.read(".panel")


def test_i_let_it_go_on_put_it_to_sleep_and_go_back(page, client):
    handle = {"type": "OS::Heat::WaitConditionHandle"}
    waiting = {"handle": {"get_resource": "handle"}, "timeout": 600}
    condition = {"type": "OS::Heat::WaitCondition", "properties": waiting}
    web = {"type": "Fake::Cloud::Server", "properties": {"value": "w"}}
    resources = {"handle": handle, "condition": condition, "web": web}
    template = {"heat_template_version": "2021-04-16", "resources": resources}
    held = {"resource_registry": {"resources": {"web": {"hooks": "pre-create"}}}}
    create(client, "shop", template, environment=held)
    page.wait(lambda: client.show_resource("shop", "handle")["resource_status"], "it is to be begun")
    stack_page(page, client, "shop", "resources", "web")
    page.press("Let it go on", ".panel")
    page.press("Yes, do it", "dialog")
    page.becomes("web", "done")
    page.becomes("handle", "done")
    page.click_box("handle")
    page.see("handle", ".panel h2")
    page.press("Signal…", ".panel")
    page.write("#entry", "done")
    page.see("This is no JSON object", "dialog")
    assert not page.find("dialog button.primary").is_enabled()
    page.write("#entry", '{"id": "1", "status": "SUCCESS", "data": "installed"}')
    page.keep("a-signal")
    page.press("Yes, do it", "dialog")
    page.see("create complete", ".title")

    page.press("Take a snapshot…")
    page.write("#entry", "as it was")
    page.press("Yes, do it", "dialog")
    page.see("snapshot complete", ".title")
    page.see("as it was", ".snapshots")
    page.see("create complete", ".snapshots")
    for action, state in (("Suspend", "suspend"), ("Resume", "resume"), ("Go back to it…", "restore")):
        page.press(action)
        page.press("Yes, do it", "dialog")
        page.see(f"{state} complete", ".title")
    page.keep("went-back")
    page.press("Delete…", ".snapshots")
    page.press("Yes, do it", "dialog")
    page.see("None was taken.", ".snapshots")


def test_my_stack_has_a_thousand_servers_and_one_is_broken(page, client):
    kind = "OS::Heat::TestResource"
    many: dict[str, object] = {f"m{each}": {"type": kind} for each in range(1000)}
    # When it fails some have not begun yet, but m0 has ended.
    many["m700"] = {"type": kind, "depends_on": "m0", "properties": {"fail": True}}
    template = {"heat_template_version": "2021-04-16", "resources": many}
    create(client, "large", template)
    until(page, client, "large", "CREATE_FAILED")
    stack_page(page, client, "large")
    page.becomes("m700", "broken")
    assert len(page.all(".box")) < 10
    page.keep("a-thousand")
    page.write("input[type=search]", "m71")
    page.see("resources found")
    page.box("m712")
    page.write("input[type=search]", "m42")
    page.click_box("m421")
    page.see("m421", ".panel h2")
    page.click(".panel-head button")
    page.write("input[type=search]", " ")
    page.wait(lambda: len(page.all(".box")) < 10, "it is to be rolled up again")
    page.click('.box[data-key="0/done/OS::Heat::TestResource"]')
    page.press("m0", ".panel")
    page.see("m0", ".panel h2")


def test_i_look_inside_a_group(page, client):
    inner = {"type": "Fake::Cloud::Server", "properties": {"value": "%index%"}}
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 3, "resource_def": inner}}
    create(client, "grouped", {"heat_template_version": "2021-04-16", "resources": {"workers": group}})
    until(page, client, "grouped", "CREATE_COMPLETE")
    stack_page(page, client, "grouped")
    page.click_box("workers")
    page.press("Open the stack inside", ".panel")
    page.see("grouped-workers", "h1")
    page.box("2")
    page.press("Stack around it")
    page.see("grouped", "h1")
    page.box("workers")


def test_i_use_no_mouse(page, client):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    page.open()
    page.see("shop", "tbody")
    page.tab_to("tbody a")
    page.type(Keys.ENTER)
    page.box("web")
    at = page.tab_to(".box")
    assert at.get_attribute("data-key") == "=database"
    page.type(Keys.ARROW_RIGHT)
    page.wait(
        lambda: page.driver.switch_to.active_element.get_attribute("data-key") == "=web",
        "web has the keyboard",
    )
    page.type(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert page.driver.switch_to.active_element.get_attribute("data-key") == "=network"
    page.type("+", "-", "0", Keys.ENTER)
    page.see("network", ".panel h2")
    page.tab_to(".panel-head button")
    page.type(Keys.ENTER)
    page.wait(lambda: not any(each.is_displayed() for each in page.all(".panel")), "it is to be closed")


def test_at_night_it_is_dark(page, client):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    page.emulate(prefers_color_scheme="dark")
    stack_page(page, client, "shop", "resources", "web")
    page.see("web", ".panel h2")
    ground = page.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(18, 22, 28)"


def test_when_the_service_is_gone_i_am_told_and_it_comes_back(page, client):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    stack_page(page, client, "shop")
    page.see("Live", ".connection")
    page.expected = ["net::ERR_INTERNET_DISCONNECTED"]
    page.driver.set_network_conditions(offline=True, latency=0, throughput=-1)
    try:
        page.see("No connection", ".connection")
    finally:
        page.driver.delete_network_conditions()
    page.see("Live", ".connection")
    client.delete_stack("shop")
    page.see("delete complete", ".title")


@pytest.mark.parametrize("width", [400, 1920])
def test_it_fits(page, client, width):
    """Nothing is beyond the edge, on a telephone or on a wall."""
    create(client, f"shop-{width}", SHOP)
    until(page, client, f"shop-{width}", "CREATE_COMPLETE")
    page.driver.set_window_size(width, 900)
    try:
        stack_page(page, client, f"shop-{width}", "resources", "web")
        page.box("web")
        wide = page.driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
        page.keep(f"width-{width}")
        assert wide <= 0
    finally:
        page.driver.set_window_size(1440, 1000)
