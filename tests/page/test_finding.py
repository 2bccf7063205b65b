# SPDX-License-Identifier: Apache-2.0
"""Finding a stack among many, and what is to be done among all."""

from __future__ import annotations

from heatconv.testing.templates import Template, thing
from tests.page.shop import LONG, create, until

ONE = Template(a=thing("1"))
STUCK = Template(a=thing("1", wait=LONG))

#: A group of what another file says.
OUTER = """\
heat_template_version: 2021-04-16
parameters:
  address: {type: string}
resources:
  web:
    type: shelf.yaml
    properties: {address: {get_param: address}}
"""
INNER = """\
heat_template_version: 2021-04-16
parameters:
  address: {type: string}
resources:
  server:
    type: Fake::Cloud::Server
    properties: {value: {get_param: address}}
"""


def names(page):
    return [each.text for each in page.all("tbody th a")]


def test_i_have_more_stacks_than_fit_and_look_for_one(page, client):
    for number in range(53):
        tags = "production" if number % 20 == 3 else "trial"
        create(client, f"shop-{number:02}", ONE, tags=tags)
    until(page, client, "shop-52", "CREATE_COMPLETE")
    until(page, client, "shop-03", "CREATE_COMPLETE")
    page.open()
    page.see("50 of 53 stacks shown")
    page.press("Name", "thead")
    page.wait(lambda: names(page)[:2] == ["shop-00", "shop-01"], "they are to be in the order of their names")
    assert page.read('th[aria-sort="ascending"]').startswith("Name")
    page.press("Name", "thead")
    page.wait(lambda: names(page)[:2] == ["shop-52", "shop-51"], "and the other way round")
    page.press("Show more stacks")
    page.see("53 of 53 stacks shown")
    page.press("Name", "thead")
    page.wait(lambda: not page.all('th[aria-sort="descending"]'), "they are to be in no such order any more")

    page.write("input[type=search]", "HOP-03")
    page.see("1 of 1 stack shown")
    page.keep("found")
    page.press("production", "tbody")
    page.see("3 of 3 stacks shown")
    page.press("Name", "thead")
    page.wait(
        lambda: names(page) == ["shop-03", "shop-23", "shop-43"], "all that have the tag are to be seen"
    )
    page.write("input[type=search]", "nobody's")
    page.see("No stack is found.")


def test_my_templates_are_in_files(page, tmp_path):
    files = {"outer.yaml": OUTER, "shelf.yaml": INNER, "env.yaml": "parameters: {address: 10.0.0.0/24}"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    page.open("plan")
    page.write("#stack-name", "shelves")
    page.find('input[aria-label="Template, from a file"]').send_keys(str(tmp_path / "outer.yaml"))
    page.wait(
        lambda: page.find("#template").get_attribute("value") == OUTER, "the template is to be in its place"
    )
    page.find('input[aria-label^="Environment"]').send_keys(str(tmp_path / "env.yaml"))
    page.find("#files").send_keys(str(tmp_path / "shelf.yaml"))
    page.press("Make a plan")
    page.see("web.server", ".planned")
    page.see("10.0.0.0/24", ".planned")
    page.press("Apply this plan")
    page.see("create complete", ".title")


def test_i_run_the_service_and_see_how_long_the_oldest_of_it_waits(page, client):
    create(client, "stuck", STUCK)
    page.open("service")
    page.see("How much there is to do")
    page.see("Longest action under way")
    page.wait(
        lambda: "second" in page.read("dl.facts") or "minute" in page.read("dl.facts"),
        "it is to be seen for how long that has gone on",
    )
    page.keep("how-much-there-is-to-do")
