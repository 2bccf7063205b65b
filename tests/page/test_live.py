# SPDX-License-Identifier: Apache-2.0
"""How soon a change is seen, and how much is asked for until then."""

from __future__ import annotations

import json
import time

from tests.page.shop import SHOP, create, stack_page, until

SOON = 1.5  #: seconds from a commit until it is seen


def test_a_change_is_seen_soon_and_nothing_is_asked_for_again_and_again(page, client):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    stack_page(page, client, "shop")
    page.becomes("web", "done")
    took = []
    for unhealthy in (True, False) * 3:
        client.mark_resource("shop", "web", unhealthy=unhealthy, reason="a test")
        began = time.monotonic()
        page.becomes("web", "broken" if unhealthy else "done")
        took.append(time.monotonic() - began)
    print(f"\nseen after {', '.join(f'{each:.2f}' for each in sorted(took))} s")  # noqa: T201 - it is run to be told
    assert sorted(took)[len(took) // 2] < SOON

    page.driver.get_log("performance")
    quiet = page.driver.execute_async_script(
        "const done = arguments[0]; const asked = () => performance.getEntriesByType('resource').length;"
        "setTimeout(() => { const before = asked(); setTimeout(() => done(asked() - before), 4000); }, 3000);"
    )
    print(f"{quiet} requests in four quiet seconds")  # noqa: T201 - it is run to be told
    assert quiet == 0


def test_a_delta_is_as_large_as_what_has_changed(page, client, driver):
    many = {
        f"m{each}": {"type": "OS::Heat::TestResource", "properties": {"value": "x"}} for each in range(1000)
    }
    create(client, "large", {"heat_template_version": "2021-04-16", "resources": many})
    until(page, client, "large", "CREATE_COMPLETE")
    stack_page(page, client, "large")
    page.see("1,000 complete", ".legend")
    driver.get_log("performance")
    client.mark_resource("large", "m7", unhealthy=True, reason="a test")
    page.becomes("m7", "broken")
    sizes = {"changes": 0, "picture": 0}
    named = {}
    for line in driver.get_log("performance"):
        message = json.loads(line["message"])["message"]
        if message["method"] == "Network.responseReceived":
            url = message["params"]["response"]["url"].split("?")[0]
            named[message["params"]["requestId"]] = url.rsplit("/", 1)[1]
        if message["method"] == "Network.dataReceived":
            name = named.get(message["params"]["requestId"], "")
            sizes[name] = sizes.get(name, 0) + message["params"]["dataLength"]
    print(f"\nbytes received: {sizes}")  # noqa: T201 - it is run to be told
    assert sizes["changes"] < 4000
    assert sizes["picture"] < 10_000


def test_what_is_in_a_group_is_followed_with_what_is_around_it(page, client):
    inner = {"type": "Fake::Cloud::Server", "properties": {"value": "%index%"}}
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 3, "resource_def": inner}}
    create(client, "grouped", {"heat_template_version": "2021-04-16", "resources": {"workers": group}})
    until(page, client, "grouped", "CREATE_COMPLETE")
    stack_page(page, client, "grouped", "resources", "workers")
    page.wait(lambda: page.read(".inside").count("Complete") == 3, "the members of the group are to be seen")
    page.driver.execute_script("performance.clearResourceTimings()")
    nested = client.show_stack(client.show_resource("grouped", "workers")["physical_resource_id"])
    client.mark_resource(nested["stack_name"], "1", unhealthy=True, reason="its disk is full")
    page.see("Failed", ".inside")
    page.see("its disk is full", ".now")
    assert page.read(".inside li").split() == ["1", "Failed"], "what is broken comes first"
    page.keep("inside-a-group")
    asked = page.driver.execute_script(
        "return performance.getEntriesByType('resource').map((each) => new URL(each.name).pathname)"
    )
    parts = {path.rsplit("/", 1)[1] for path in asked}
    assert "changes" in parts
    assert not parts & {"picture", client.show_stack("grouped")["id"], nested["id"]}, "no stack is read anew"


def test_a_group_that_comes_about_while_i_look_shows_what_is_in_it(page, client, cloud):
    inner = {"type": "Fake::Cloud::Server", "properties": {"value": "%index%"}}
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 2, "resource_def": inner}}
    resources = {"first": inner, "workers": {**group, "depends_on": "first"}}
    cloud.hold_after(0)
    create(client, "grouped", {"heat_template_version": "2021-04-16", "resources": resources})
    stack_page(page, client, "grouped", "resources", "workers")
    page.see("workers", ".panel h2")
    cloud.release()
    page.wait(lambda: page.read(".inside").count("Complete") == 2, "its members are to be seen")


def test_what_happens_deep_inside_costs_nothing(page, client):
    """A stack two levels below is no news of the marks that are seen."""
    inner = {"type": "Fake::Cloud::Server", "properties": {"value": "v"}}
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 1, "resource_def": inner}}
    outer = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 1, "resource_def": group}}
    create(client, "deep", {"heat_template_version": "2021-04-16", "resources": {"outer": outer}})
    until(page, client, "deep", "CREATE_COMPLETE")
    below = client.show_stack(client.show_resource("deep", "outer")["physical_resource_id"])
    lowest = client.show_stack(client.show_resource(below["id"], "0")["physical_resource_id"])
    stack_page(page, client, "deep")
    page.becomes("outer", "done")
    page.driver.execute_script("performance.clearResourceTimings()")
    client.act(lowest["id"], "check")
    page.see("check complete", ".now")

    def asked():
        """Return the last part of each address that the page has asked."""
        each = "new URL(each.name).pathname.split('/').at(-1)"
        return page.driver.execute_script(
            f"return performance.getEntriesByType('resource').map((each) => {each})"
        )

    page.wait(lambda: "explanation" in asked(), "why it is not done comes last")
    assert not {*asked()} & {"picture", client.show_stack("deep")["id"]}, "no stack is read anew"


def test_an_answer_that_comes_late_is_not_the_last_word(page, client, between):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    stack_page(page, client, "shop")
    page.becomes("web", "done")
    between.hold("/picture")
    client.act("shop", "check")
    between.hold_no_more()
    page.write(".wide input[type=search]", "database")
    page.find('.found[data-key="=database"]')
    between.release()
    assert page.all('.found[data-key="=database"]')

    between.hold("/picture")
    page.write(".wide input[type=search]", "network")
    between.hold_no_more()
    client.mark_resource("shop", "web", unhealthy=True, reason="its disk is full")
    page.becomes("web", "broken")
    between.release()
    page.becomes("web", "broken")


def test_i_follow_what_is_being_deleted(page, client, cloud):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    cloud.hold_after(0)
    client.delete_stack("shop")
    stack_page(page, client, "shop")
    page.see("delete in progress", ".now")
    page.press("web", ".now")
    page.see("web", ".panel h2")
    page.expected = ["404 (Not Found)"]  # of what has just gone
    cloud.release()
    page.see("delete complete", ".title")


def test_the_overview_is_sent_nothing_when_nothing_has_changed(page, client, driver):
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    page.open()
    page.see("shop", "tbody")
    statuses: list[int] = []

    def is_quiet() -> bool:
        """Tell whether all three lists of a look were answered without a body."""
        for line in driver.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.responseReceivedExtraInfo":
                statuses.append(message["params"]["statusCode"])
        return statuses[-3:] == [304] * 3

    page.wait(is_quiet, "it is to look again, and to be sent nothing")

    create(client, "another", SHOP)
    page.see("another", "tbody")


def test_a_tab_that_nobody_sees_asks_for_nothing_and_catches_up_then(page, client, driver):
    """A browser has six connections to a service for all its tabs."""
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")
    stack_page(page, client, "shop")
    page.becomes("web", "done")
    driver.execute_script(
        "window.turned = [];"
        "document.addEventListener('visibilitychange', () => turned.push(performance.now()));"
    )
    here = driver.current_window_handle
    driver.switch_to.new_window("tab")
    try:
        over = time.monotonic() + 3
        while time.monotonic() < over:
            client.act("shop", "check")
            until(page, client, "shop", "CHECK_COMPLETE")
        client.mark_resource("shop", "web", unhealthy=True, reason="a test")
    finally:
        driver.close()
        driver.switch_to.window(here)
    page.becomes("web", "broken")
    page.see("check complete", ".title")
    page.see("Live", ".connection")
    hidden, seen = driver.execute_script("return window.turned")
    began = driver.execute_script(
        "return performance.getEntriesByType('resource').map((each) => each.startTime)"
    )
    assert not [each for each in began if hidden < each < seen]
