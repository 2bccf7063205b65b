# SPDX-License-Identifier: Apache-2.0
"""The events of stacks are published on a real RabbitMQ, by the names that Heat's listeners know."""

from __future__ import annotations

from contextlib import closing

import pytest

from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import Template, thing
from tests.functional.core.world import CONTEXT
from tests.functional.servers.catalog import free_port
from tests.functional.sinks.bus import Listener, notifier

ONE = Template(A=thing("a"))
NOTIFICATION = {"type": "notification"}
SQLITE = pytest.mark.parametrize("database_kind", ["sqlite"])


@pytest.fixture
def listener(rabbit_url):
    with closing(Listener(rabbit_url)) as made:
        yield made


@pytest.fixture
def publish(tmp_path):
    """Return a function that returns what publishes at a transport URL."""
    made = []

    def publish(url):
        there = notifier(tmp_path, url)
        assert there is not None
        made.append(there)
        return made[-1].publish

    yield publish
    for each in made:
        each._transport.cleanup()


@pytest.fixture
def published(world, publish, rabbit_url):
    """Return a world whose operator publishes notifications."""
    world.allow(notify=publish(rabbit_url))
    return world


def types(found):
    return [each["event_type"] for each in found]


@SQLITE
def test_a_life_is_published(published, listener):
    published.create_with(ONE, [NOTIFICATION])
    published.run()
    published.delete()
    published.run()
    published.deliver()

    found = listener.read()
    assert types(found) == [
        "orchestration.stack.create.start",
        "orchestration.resource.create.start",
        "orchestration.resource.create.end",
        "orchestration.stack.create.end",
        "orchestration.stack.delete.start",
        "orchestration.resource.delete.start",
        "orchestration.resource.delete.end",
        "orchestration.stack.delete.end",
    ]
    assert {each["publisher_id"] for each in found} == {"orchestration.here"}
    of_stack = found[3]["payload"]
    assert of_stack["stack_identity"].endswith(f"stacks/web/{published.stack_id}")
    assert of_stack.keys() == {
        *("tenant_id", "user_identity", "username", "stack_identity", "stack_name", "state", "state_reason"),
        *("create_at", "updated_at", "deleted_at", "tags", "description", "event_id", "event_time"),
    }
    assert (of_stack["state"], of_stack["tenant_id"]) == ("CREATE_COMPLETE", CONTEXT.project_id)
    of_resource = found[2]["payload"]
    assert (of_resource["resource_name"], of_resource["state"]) == ("A", "CREATE_COMPLETE")
    assert len({each["payload"]["event_id"] for each in found}) == len(found)


@SQLITE
def test_what_fails_is_published_as_an_error(published, listener):
    published.cloud.fail(FailureRule(op="create", owner="*/A", status=400))
    published.create_with(ONE, [NOTIFICATION])
    published.run()
    published.deliver()

    errors = [each for each in listener.read() if each["priority"] == "ERROR"]
    assert sorted(types(errors)) == [
        "orchestration.resource.create.error",
        "orchestration.stack.create.error",
    ]


@SQLITE
def test_what_the_broker_did_not_take_is_published_when_it_does(world, listener, publish, rabbit_url):
    nobody = f"rabbit://guest:guest@127.0.0.1:{free_port()}/"
    world.allow(notify=publish(nobody))
    world.create_with(ONE, [NOTIFICATION])
    world.run()
    world.deliver()
    assert world.sinks()[0].attempts == 1

    world.allow(notify=publish(rabbit_url))
    world.time_passes()
    world.deliver()

    assert len(listener.read()) == len(world.events())


def test_the_operator_can_have_all_that_happens_from_now_on(published, listener):
    published.create(ONE)
    published.run()
    before = len(published.events())
    published.deliver(notify_all=True)
    assert listener.read() == []

    source = {"template": ONE.hot(), "environment": {"event_sinks": [NOTIFICATION]}}
    published.engine.create_stack(CONTEXT, "other", source, {})
    published.delete()
    published.run()
    published.deliver(notify_all=True)

    found = listener.read()
    assert len(found) == len(published.events()) - before  # each once, whatever its stack says
    assert {each["payload"]["stack_name"] for each in found} == {"web", "other"}
    published.time_passes()
    published.deliver(notify_all=True)
    assert listener.read() == []
    assert published.noted() == 0

    published.deliver()  # the operator has changed his mind
    assert [each.stack_id for each in published.sinks()] == [found[0]["payload"]["stack_identity"][-36:]]


def test_without_a_driver_there_are_no_notifications(tmp_path, rabbit_url):
    assert notifier(tmp_path, rabbit_url, driver="") is None
