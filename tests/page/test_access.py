# SPDX-License-Identifier: Apache-2.0
"""For those who do not look, or see little: axe-core, which knows the rules, finds nothing."""

from __future__ import annotations

from importlib import resources

import pytest

from heatconv.testing.templates import thing
from tests.page.shop import LONG, SHOP, YAML, create, stack_page, until

_FIND = """
const done = arguments[arguments.length - 1];
axe.run(document).then((found) => done([found.passes.length, found.violations.map((each) =>
  `${each.id}: ${each.help}: ${each.nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`)]));
"""


@pytest.fixture
def violations(page):
    """Return a function that tells what is wrong with what the page shows."""
    axe = resources.files("axe_core_python").joinpath("axe.min.js").read_text()

    def found():
        page.driver.execute_script(axe)
        held, broken = page.driver.execute_async_script(_FIND)
        assert held > 10, "the rules were not tried"
        return broken

    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wrong(page, client, violations, scheme):
    page.emulate(prefers_color_scheme=scheme)
    page.open()
    page.see("Stacks", "h1")
    page.find("a.primary")
    assert violations() == []

    for name, web in (("fine", thing("w")), ("moving", thing("w", wait=LONG))):
        create(client, f"{name}-{scheme}", SHOP.but(web=web))
    failing = {"type": "OS::Heat::TestResource", "properties": {"fail": True}}
    create(client, f"broken-{scheme}", {"heat_template_version": "2021-04-16", "resources": {"a": failing}})
    until(page, client, f"fine-{scheme}", "CREATE_COMPLETE")
    until(page, client, f"broken-{scheme}", "CREATE_FAILED")
    page.open()
    page.see(f"broken-{scheme}", "tbody")
    assert violations() == []

    for name, resource in (("fine", "web"), ("moving", "web"), ("broken", "a")):
        stack_page(page, client, f"{name}-{scheme}", "resources", resource)
        page.see("Attributes", ".panel")
        page.press("Show the attributes", ".panel")
        page.wait(lambda: "Asking" not in page.read(".panel"), "the attributes are to be there")
        assert violations() == [], name
    page.press("Template")
    page.see("resources:", ".source")
    page.press("History")
    page.see("create failed", "ul.rows")
    page.press("Signal…", ".panel")
    page.write("#entry", "x")
    page.see("This is no JSON object", "dialog")
    assert violations() == []
    page.press("Cancel", "dialog")
    page.press("Delete…")
    page.see("cannot be taken back", "dialog")
    assert violations() == []
    page.press("Cancel", "dialog")

    page.open("service")
    page.see("heatconv-all", "tbody")
    page.see(f"moving-{scheme}", "tr.moving")
    assert violations() == []

    page.open("plan")
    page.write("#stack-name", "another")
    page.write("#template", YAML)
    page.press("Make a plan")
    page.see("+ 2 create", ".counts")
    assert violations() == []
