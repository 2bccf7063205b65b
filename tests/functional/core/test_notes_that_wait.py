# SPDX-License-Identifier: Apache-2.0
"""What a plugin notes that is of no use before its action waits, or has ended, is written along with that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from heatconv.engine.reads import Reads
from heatconv.engine.signalled_plugins import SignalledPlugins
from heatconv.engine.signals import Signals
from heatconv.model.secrets import REDACTED
from heatconv.worker.plugin_factory import no_signal_url
from tests.functional.core.test_begun_with_the_claim import commits_of
from tests.functional.core.world import CONTEXT, HOUR


class Of(NamedTuple):
    """A template of one resource."""

    type: str
    properties: Mapping[str, Any]

    def hot(self):
        return {
            "heat_template_version": "2021-04-16",
            "resources": {"A": {"type": self.type, "properties": dict(self.properties)}},
            "outputs": {
                "of_a": {"value": {"get_attr": ["A", "output" if "value" in self.properties else "value"]}}
            },
        }


def echo(value, **properties):
    return Of("OS::Heat::TestResource", {"value": value, **properties})


RANDOM = Of("OS::Heat::RandomString", {"length": 20})


def output(world):
    """Return what a user is shown of the resource."""
    (shown,) = Reads(world.database, dead_after=HOUR).show_stack(CONTEXT, world.stack_id)["outputs"]
    return shown["output_value"]


@pytest.fixture
def echoed(world):
    """Return a world with a stack whose resource has noted something once."""
    for number, change in enumerate((world.create, world.update)):
        change(echo(f"v{number}"))
        world.run()
    assert (output(world), world.row("A").data) == ("v1", {"value": "v1"})
    return world


def test_a_create_that_notes_something_takes_two_transactions(world):
    committed = commits_of(world.worker)
    world.create(RANDOM)
    world.check("A+")

    assert len(committed) == 2
    data = world.row("A").data
    assert (len(data["value"]), REDACTED in data) == (20, True)
    world.run()
    assert output(world) == data["value"]
    world.update(RANDOM._replace(properties={"length": 20, "salt": "other"}))
    world.run()
    assert world.state == "UPDATE_COMPLETE"


def test_whoever_takes_over_an_action_that_waits_knows_what_was_noted(echoed, world):
    world.update(echo("new", wait_secs=3600))
    world.check("A+")

    assert world.rows()["A"] == "UPDATE_IN_PROGRESS v1"
    assert world.row("A").data == {"value": "new"}


def test_nothing_is_noted_of_an_action_that_fails(echoed, world):
    world.update(echo("new", fail=True))
    world.run()
    assert (world.state, world.row("A").data) == ("UPDATE_FAILED", {"value": "v1"})

    world.update(echo("newer"))
    world.run()
    assert (world.state, output(world)) == ("UPDATE_COMPLETE", "newer")


def test_a_breakpoint_after_the_action_finds_it_noted(world, registry):
    source = {
        "template": RANDOM.hot(),
        "environment": {"resource_registry": {"resources": {"A": {"hooks": "post-create"}}}},
    }
    world.stack_id = world.engine.create_stack(CONTEXT, "web", source, {})
    world.check("A+")
    noted = world.row("A").data["value"]
    assert world.rows()["A"] == "CREATE_IN_PROGRESS v0"

    nobody = SignalledPlugins(
        database=world.database, requests=world.engine, registry=registry, signal_url=no_signal_url
    )
    signals = Signals(database=world.database, plugins=nobody, wake=world.worker.held.wake)
    signals.signal_resource(CONTEXT, world.stack_id, "A", {"unset_hook": "post-create"})
    world.run()

    assert world.state == "CREATE_COMPLETE"
    assert output(world) == noted
