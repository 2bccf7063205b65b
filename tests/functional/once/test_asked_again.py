# SPDX-License-Identifier: Apache-2.0
"""Whatever changes something is done once, however often it is asked and wherever an engine dies of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from heatconv import errors
from heatconv.model.ids import new_id
from heatconv.rpc.endpoint import endpoints_of
from heatconv.rpc.engine_client import EngineClient
from tests.functional.once.serving import PATIENCE, Died, Serving, empty, holding, wanted

Given = Callable[[Serving, str], dict[str, Any]]

GIVEN: dict[str, Given] = {}


def given(method: str) -> Callable[[Given], Given]:
    """Declare what has to be there for an endpoint to change something, and what that is asked then."""

    def declare(function: Given) -> Given:
        GIVEN[method] = function
        return function

    return declare


def source(description: str = "another", **more: Any) -> dict[str, Any]:
    return {"template": empty(description), "environment": {}, "files": {}, "parameters": {}, **more}


@given("create_stack")
def _create(_serving, name):
    return {"name": name, "source": source(), "options": {"stack_id": new_id()}}


@given("update_stack")
def _update(serving, name):
    serving.make(name)
    return {"stack": name, "source": source(), "options": {}, "existing": False}


@given("rollback_stack")
def _roll_back(serving, name):
    serving.make(name)
    return {"stack": name}


@given("cancel_stack")
def _cancel(serving, name):
    waits = {"resource_registry": {"resources": {"H": {"hooks": "pre-create"}}}}
    serving.make(name, holding(), **waits)
    return {"stack": name, "rollback": False}


@given("suspend_stack")
@given("check_stack")
@given("delete_stack")
def _made(serving, name):
    stack_id = serving.make(name)
    for part in "ab":
        serving.ask("create_snapshot", stack=stack_id, name=f"{name}{part}")
        serving.rest()
    return {"stack": name}


@given("abandon_stack")
def _abandon(serving, name):
    group = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 2, "resource_def": {"type": "OS::Heat::None"}},
    }
    serving.make(name, empty() | {"resources": {"G": group}})
    return {"stack": name}


@given("resume_stack")
def _resume(serving, name):
    serving.make(name)
    serving.ask("suspend_stack", stack=name)
    serving.rest()
    return {"stack": name}


@given("create_snapshot")
def _snapshot(serving, name):
    serving.make(name, holding())
    return {"stack": name, "name": name}


def _with_snapshot(serving, name):
    serving.make(name)
    taken = serving.ask("create_snapshot", stack=name, name=name)
    serving.rest()
    return {"stack": name, "snapshot": taken["id"]}


GIVEN["delete_snapshot"] = GIVEN["restore_snapshot"] = _with_snapshot


@given("signal_resource")
def _signal(serving, name):
    serving.make(name, holding())
    return {"stack": name, "name": "H", "details": {"data": "x"}}


@given("mark_unhealthy")
def _mark(serving, name):
    serving.make(name, holding())
    return {"stack": name, "name": "H", "unhealthy": True, "reason": "so"}


@given("create_plan")
def _plan(serving, name):
    return {
        "stack": serving.make(name, holding()),
        "action": "update",
        "source": source(),
        "options": {"tags": []},
    }


@given("delete_plan")
@given("apply_plan")
def _planned(serving, name):
    return {"plan": serving.ask("create_plan", **_plan(serving, name))["id"]}


@given("converge_stack")
def _converge(serving, name):
    serving.make(name, holding())
    return {"stack": name}


@given("create_nested_stacks")
def _create_nested(serving, name):
    owners = serving.held(serving.make_waiting(name, 1))
    return wanted(f"{name}-G-inside", owners, source())


@given("create_software_config")
def _config(_serving, name):
    return {"values": {"name": name, "group": "g", "config": "echo"}}


@given("delete_software_config")
def _delete_config(serving, name):
    return {"config": serving.ask("create_software_config", **_config(serving, name))["id"]}


@given("create_software_deployment")
def _deployment(serving, name):
    config = serving.ask("create_software_config", **_config(serving, name))["id"]
    return {"values": {"config_id": config, "server_id": name}}


@given("delete_software_deployment")
def _delete_deployment(serving, name):
    made = serving.ask("create_software_deployment", **_deployment(serving, name))
    return {"deployment": made["id"]}


@given("update_software_deployment")
def _update_deployment(serving, name):
    return _delete_deployment(serving, name) | {"values": {"output_values": {"a": 1}, "status": "COMPLETE"}}


def test_everything_that_changes_something_is_tried_here(serving):
    reads = {each.name for each in endpoints_of(EngineClient) if each.reads}
    assert serving.endpoints - reads == GIVEN.keys()


@pytest.mark.parametrize("method", sorted(GIVEN))
def test_an_engine_that_comes_late_changes_nothing_and_answers_the_same(serving, method):
    """It may not even know that it is not the first."""
    arguments, request_id = GIVEN[method](serving, "mine"), new_id()
    first = serving.ask(method, request_id, **arguments)
    serving.rest()
    before = serving.everything()

    assert serving.ask(method, request_id, number=1, **arguments) == first
    assert serving.ask(method, request_id, number=2, **arguments) == first

    serving.rest()
    assert serving.everything() == before


@pytest.mark.parametrize("method", sorted(GIVEN))
def test_it_is_done_once_wherever_the_engine_dies_that_was_asked_first(serving, method):
    serving.ask(method, **GIVEN[method](serving, "well"))
    serving.rest()
    wanted = serving.world("well")
    for commits in itertools.count(1):
        name, request_id = f"dies{commits:04}", new_id()
        arguments = GIVEN[method](serving, name)
        try:
            serving.ask(method, request_id, dies_after=commits, **arguments)
        except Died:
            died = True
        else:
            died = False
        serving.ask(method, request_id, number=2, **arguments)
        serving.rest()
        assert serving.world(name) == wanted, f"after {commits} commits"
        if not died:
            break
    assert commits > 1


@pytest.mark.parametrize("method", sorted(GIVEN))
def test_what_nobody_waits_for_any_more_is_not_begun(serving, method):
    """Who was answered that no engine could be reached may have asked for something else since."""
    arguments = GIVEN[method](serving, "mine")
    serving.rest()
    before = serving.everything()

    with pytest.raises(errors.TransportError, match="nobody waited"):
        serving.ask(method, left=0.0, **arguments)

    serving.rest()
    assert serving.everything() == before
    serving.ask(method, left=PATIENCE, **arguments)
    serving.rest()
    assert serving.everything() != before


def test_what_was_refused_stays_refused(serving):
    """The engine that comes late finds nothing any more that would keep it from doing what was asked."""
    serving.make("taken")
    request_id, other = new_id(), new_id()
    arguments = {"name": "taken", "source": source(), "options": {"stack_id": other}}
    refused = serving.ask("create_stack", request_id, **arguments)
    assert refused[0] == "StackExists"
    serving.ask("delete_stack", stack="taken")
    serving.rest()

    assert serving.ask("create_stack", request_id, **arguments) == refused
    assert serving.ask("show_stack", stack=other, resolve_outputs=False)[0] == "NotFound"


def test_a_wrong_template_is_told_of_in_the_same_words(serving):
    arguments = {
        "name": "wrong",
        "source": source(
            template={"heat_template_version": "2021-04-16", "resources": {"A": {"type": "No::Such"}}}
        ),
        "options": {"stack_id": new_id()},
    }
    request_id = new_id()
    refused = serving.ask("create_stack", request_id, **arguments)
    assert refused[0] in ("Invalid", "NotFound", "BadRequest")
    assert serving.ask("create_stack", request_id, number=2, **arguments) == refused
