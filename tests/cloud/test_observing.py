# SPDX-License-Identifier: Apache-2.0
"""What is in the cloud is compared with what was asked for, and healed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.cloud.test_server import web
from tests.cloud.world import servers_of
from tests.functional.waiting import until


def looked_at(stack):
    """Look at everything, and return the names of what differs."""
    before = stack.client.show_drift(stack.name)["observed_at"]
    # Times are told in seconds: what is seen within one could not be told from what was seen before.
    until(
        lambda: before is None or datetime.now(UTC) >= datetime.fromisoformat(before) + timedelta(seconds=1)
    )
    stack.client.observe(stack.name)
    until(lambda: stack.client.show_drift(stack.name)["observed_at"] != before)
    return {each["resource_name"] for each in stack.client.show_drift(stack.name)["resources"]}


def test_what_nobody_touched_has_not_drifted_and_what_was_deleted_is_made_anew(stack, cloud, smallest):
    stack.create(web(smallest))
    assert looked_at(stack) == set()

    lost = stack.id_of("server")
    cloud.compute.delete_server(lost)
    cloud.compute.wait_for_delete(cloud.compute.get_server(lost))
    assert looked_at(stack) == {"server"}

    stack.client.converge(stack.name)
    stack.wait_for("UPDATE_COMPLETE")
    (server,) = servers_of(cloud)
    assert (server.id, server.status) == (stack.id_of("server"), "ACTIVE")
    assert server.id != lost
