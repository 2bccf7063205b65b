# SPDX-License-Identifier: Apache-2.0
"""What can be pressed works, and what works can be pressed, in whatever state a stack is."""

from __future__ import annotations

import pytest

from heatconv.testing.failures import FailureRule, Outcome
from tests.page.shop import SHOP, create, stack_page, until

AT_REST = ["Update", "Look for drift", "Put right", "Check", "Suspend", "Delete…"]


@pytest.fixture
def shop(page, client):
    """Make a stack."""
    create(client, "shop", SHOP)
    until(page, client, "shop", "CREATE_COMPLETE")


def offered(page, *labels, within="[aria-label=Actions]"):
    """Wait until just these actions are offered."""
    found = f"{within} button[data-action]"
    page.wait(
        lambda: [each.text for each in page.all(found) if each.is_displayed()] == list(labels),
        f"{labels} are to be offered",
    )


@pytest.mark.usefixtures("shop")
def test_what_sleeps_is_woken_up_before_it_is_changed(page, client):
    client.create_snapshot("shop", "as it was")
    until(page, client, "shop", "SNAPSHOT_COMPLETE")
    stack_page(page, client, "shop", "resources", "web")
    offered(page, *AT_REST)
    offered(page, "Look for drift", "Put right", "Mark as unhealthy", "Signal…", within=".panel")
    page.find('[data-snapshot^="restore"]')
    client.act("shop", "suspend")
    page.see("suspend complete", ".title")
    offered(page, "Look for drift", "Check", "Resume", "Delete…")
    offered(page, "Look for drift", "Mark as unhealthy", "Signal…", within=".panel")
    assert not page.all('[data-snapshot^="restore"]')


@pytest.mark.usefixtures("shop")
def test_only_a_creation_or_an_update_is_cancelled(page, client, cloud):
    cloud.hold_after(0)
    stack_page(page, client, "shop")
    client.act("shop", "suspend")
    page.see("suspend in progress", ".title")
    offered(page, "Delete…")
    cloud.release()
    page.see("suspend complete", ".title")


@pytest.mark.usefixtures("shop")
def test_what_could_not_be_deleted_may_be_wanted_again(page, client, cloud):
    cloud.fail(FailureRule(op="delete", name="*web*", status=403, outcome=Outcome.REFUSE, times=None))
    stack_page(page, client, "shop")
    client.delete_stack("shop")
    page.see("delete failed", ".title")
    offered(page, "Update", "Roll back", "Delete…")
    cloud.stop_failing()
    client.delete_stack("shop")
    page.see("delete complete", ".title")
    offered(page)


def test_what_is_nested_is_put_right_by_what_is_around_it(page, client):
    inner = {"type": "Fake::Cloud::Server", "properties": {"value": "%index%"}}
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 1, "resource_def": inner}}
    create(client, "grouped", {"heat_template_version": "2021-04-16", "resources": {"workers": group}})
    until(page, client, "grouped", "CREATE_COMPLETE")
    inside = client.show_stack(client.show_resource("grouped", "workers")["physical_resource_id"])
    page.open("stacks", inside["stack_name"], inside["id"], "resources", "0")
    offered(page, *[each for each in AT_REST if each != "Put right"])
    offered(page, "Look for drift", "Mark as unhealthy", "Signal…", within=".panel")
