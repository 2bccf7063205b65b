# SPDX-License-Identifier: Apache-2.0
"""Wait conditions, their handles, and delays."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from heatconv.model.definition import Definition
from heatconv.model.states import Action
from heatconv.resources import exception
from heatconv.resources.aws.wait_condition_handle import UpdateWaitConditionHandle
from heatconv.resources.facts import Peer
from heatconv.resources.heat.access_policy import AccessPolicy
from heatconv.resources.heat.delay import Delay
from heatconv.resources.heat.ha_restarter import HARestarter
from heatconv.resources.heat.wait_condition import PATIENCE, WaitCondition
from heatconv.resources.heat.wait_condition_handle import WaitConditionHandle
from heatconv.resources.resource import PollDelay, UpdateReplace
from heatconv.resources.validation import problems
from tests.driving import drive

# -- handles ---------------------------------------------------------------------------


@pytest.fixture
def handle(make):
    return make(WaitConditionHandle)


def test_signals_are_kept_by_their_id(handle, keeper):
    assert handle.handle_signal() == "status:SUCCESS reason:Signal 1 received"
    assert (
        handle.handle_signal({"status": "FAILURE", "reason": "no disk", "id": "db", "data": {"a": 1}})
        == "status:FAILURE reason:no disk"
    )
    assert keeper.metadata == {
        "1": {"status": "SUCCESS", "reason": "Signal 1 received", "data": None},
        "db": {"status": "FAILURE", "reason": "no disk", "data": {"a": 1}},
    }
    assert handle.get_status() == ["SUCCESS", "FAILURE"]
    assert handle.get_status_reason("FAILURE") == ["no disk"]


def test_a_signal_with_the_id_of_another_replaces_that_and_no_other(handle, keeper):
    for details in ({"id": "3"}, {"id": "x"}, {}, {"id": "x", "data": "again"}):
        handle.handle_signal(details)
    assert {key: signal["data"] for key, signal in keeper.metadata.items()} == {
        "3": None,
        "x": "again",
        "4": None,
    }


@pytest.mark.parametrize(
    ("details", "sentence"),
    [
        ("text", "has to be a map, not 'text'"),
        ({"Status": "SUCCESS", "state": 1}, "cannot have Status, state, but status, reason, data, id"),
        ({"status": "maybe"}, "has to be SUCCESS or FAILURE, not 'maybe'"),
        ({"status": []}, "has to be SUCCESS or FAILURE"),
    ],
)
def test_what_is_no_signal_is_refused(handle, keeper, details, sentence):
    with pytest.raises(ValueError, match=sentence):
        handle.handle_signal(details)
    assert keeper.metadata == {}


def test_no_template_takes_the_signals_away(make, keeper):
    handle = make(WaitConditionHandle, action=Action.CREATE)
    handle.handle_signal()
    update = drive(handle).plan_update(replace(handle.definition, metadata={"new": 1}))
    assert update.tmpl_diff.metadata_changed()
    drive(handle).start(Action.UPDATE, update.json_snippet, update.tmpl_diff, update.prop_diff)
    assert keeper.metadata.keys() == {"1"}


@pytest.mark.parametrize(
    ("transport", "signal"),
    [
        ("TOKEN_SIGNAL", {"endpoint": "http://x/server?a=1&b=2", "token": ""}),
        ("CFN_SIGNAL", {"alarm_url": "http://x/server?a=1&b=2"}),
    ],
)
def test_the_attributes_tell_how_to_signal(make, stack, transport, signal):
    ids: dict[str, str] = {}
    facts = replace(stack, signal_url=lambda row_id: f"http://x/{ids[row_id]}?a=1&b=2")
    handle = make(WaitConditionHandle, {"signal_transport": transport}, facts=facts)
    ids[handle.uuid] = "server"
    assert handle.get_attribute("endpoint") is None
    drive(handle).start(Action.CREATE)
    assert handle.get_attribute("endpoint") == "http://x/server?a=1&b=2"
    assert handle.get_attribute("token") == ""
    assert handle.get_attribute("curl_cli").endswith(
        "-H 'Accept: application/json' 'http://x/server?a=1&b=2'"
    )
    assert json.loads(handle.get_attribute("signal")) == signal


def test_who_takes_no_signals_has_no_address(make):
    handle = make(WaitConditionHandle, {"signal_transport": "NO_SIGNAL"})
    drive(handle).start(Action.CREATE)
    assert handle.get_attribute("endpoint") is None
    assert handle.get_attribute("signal") == "{}"


@pytest.mark.parametrize(
    ("transport", "needs"),
    [("HEAT_SIGNAL", "Keystone"), ("TEMP_URL_SIGNAL", "Swift"), ("ZAQAR_SIGNAL", "Zaqar")],
)
def test_a_transport_that_is_not_there_is_refused(make, stack, transport, needs):
    handle = make(WaitConditionHandle, {"signal_transport": transport})
    ((path, sentence),) = problems(WaitConditionHandle, handle.definition, stack)
    assert path == "resources.server.properties.signal_transport"
    assert needs in sentence


def test_a_handle_for_updates_is_replaced_by_each(make):
    handle = make(UpdateWaitConditionHandle, action=Action.CREATE)
    assert handle.changes_with_every_update
    with pytest.raises(UpdateReplace):
        drive(handle).plan_update(handle.definition)


# -- wait conditions ----------------------------------------------------------------------


@pytest.fixture
def signals():
    return {"deployed": "not a signal"}


@pytest.fixture
def condition(make, stack, signals):
    def of(**properties):
        def find(refid):
            return Peer(name="h", type="T", resource_id="ref", metadata=signals) if refid == "ref" else None

        facts = replace(stack, resource_by_refid=find)
        return make(WaitCondition, {"handle": "ref", "timeout": 100} | properties, facts=facts)

    return of


def signal(status="SUCCESS", reason="ok", data=None):
    return {"status": status, "reason": reason, "data": data}


def test_it_waits_until_enough_signals_are_there(condition, signals, keeper):
    waiting = condition(count=2)
    token = json.loads(json.dumps(drive(waiting).start(Action.CREATE)))
    signals["a"] = signal(data=[1])
    with pytest.raises(PollDelay) as caught:
        drive(waiting).is_complete(Action.CREATE, token)
    assert caught.value.period == PATIENCE
    assert keeper.physical_id is None
    signals["b"] = signal(data="x")
    assert drive(condition(count=2)).is_complete(Action.CREATE, token)
    assert keeper.physical_id is not None
    assert json.loads(waiting.get_attribute("data")) == {"a": [1], "b": "x"}


def test_it_looks_once_more_when_its_time_is_up(condition):
    waiting = condition()
    token = drive(waiting).start(Action.CREATE) | {"until": time.time() + 5}
    with pytest.raises(PollDelay) as caught:
        drive(waiting).is_complete(Action.CREATE, token)
    assert 0 < caught.value.period <= 5


def test_a_failure_fails_it_with_every_reason(condition, signals):
    signals |= {"a": signal(), "b": signal("FAILURE", "no disk"), "c": signal("FAILURE", "no net")}
    waiting = condition()
    with pytest.raises(exception.Error, match=r"^no disk; no net$"):
        drive(waiting).is_complete(Action.CREATE, drive(waiting).start(Action.CREATE))


@pytest.mark.parametrize(
    ("came", "text"), [({}, r"^0 of 2 received$"), ({"a": signal()}, r"^1 of 2 received - ok$")]
)
def test_after_its_time_it_fails_with_what_came(condition, signals, came, text):
    signals |= came
    waiting = condition(count=2)
    token = drive(waiting).start(Action.CREATE) | {"until": time.time() - 1}
    with pytest.raises(exception.Error, match=text):
        drive(waiting).is_complete(Action.CREATE, token)


def test_what_came_at_the_last_moment_counts(condition, signals):
    signals["a"] = signal()
    waiting = condition()
    assert drive(waiting).is_complete(
        Action.CREATE, drive(waiting).start(Action.CREATE) | {"until": time.time() - 1}
    )


def test_a_handle_that_is_none_is_named(condition):
    waiting = condition(handle="other")
    with pytest.raises(exception.Error, match="other is not the handle of a wait condition"):
        drive(waiting).is_complete(Action.CREATE, drive(waiting).start(Action.CREATE))


def test_a_higher_count_waits_again(condition, signals):
    signals["a"] = signal()
    waiting = condition()
    drive(waiting).is_complete(Action.CREATE, drive(waiting).start(Action.CREATE))
    token = waiting.handle_update(None, None, {"count": 2})
    with pytest.raises(PollDelay):
        waiting.check_update_complete(token)
    signals["b"] = signal()
    assert waiting.check_update_complete(token)
    assert waiting.check_update_complete(waiting.handle_update(None, None, {}))


# -- delays ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("properties", "least", "most"),
    [
        ({"min_wait": 30}, 30, 30),
        ({"min_wait": 30, "max_jitter": 2, "jitter_multiplier": 10}, 30, 50),
        ({"max_jitter": 5}, 0, 5),
    ],
)
def test_a_delay_ends_at_an_instant_that_survives_its_worker(make, properties, least, most):
    before = time.time()
    token = json.loads(json.dumps(drive(make(Delay, properties)).start(Action.CREATE)))
    assert before + least <= token["until"] <= time.time() + most
    with pytest.raises(PollDelay) as caught:
        drive(make(Delay, properties)).is_complete(Action.CREATE, {"until": time.time() + 7})
    assert 6 < caught.value.period <= 7


def test_a_delay_is_there_once_it_is_over(make, keeper):
    delay = make(Delay, {"min_wait": 30})
    drive(delay).start(Action.CREATE)
    assert keeper.physical_id is None
    assert drive(delay).is_complete(Action.CREATE, {"until": time.time()})
    assert keeper.physical_id == delay.resource_id


def test_only_the_actions_named_take_time(make, keeper):
    keeper.physical_id = "x"
    delay = make(Delay, {"min_wait": 30, "actions": ["DELETE", "RESUME"]})
    for action in (Action.CREATE, Action.SUSPEND):
        assert drive(delay).is_complete(action, drive(delay).start(action))
    for action in (Action.DELETE, Action.RESUME):
        with pytest.raises(PollDelay):
            drive(delay).is_complete(action, drive(delay).start(action))


def test_a_delay_that_never_was_goes_at_once(make):
    delay = make(Delay, {"min_wait": 30, "actions": ["DELETE"]})
    assert drive(delay).is_complete(Action.DELETE, drive(delay).start(Action.DELETE))


def test_a_delay_is_changed_without_waiting(make):
    delay = make(Delay, {"min_wait": 30}, action=Action.CREATE)
    update = drive(delay).plan_update(Definition(name="server", type="T", properties={"min_wait": 60}))
    token = drive(delay).start(Action.UPDATE, update.json_snippet, update.tmpl_diff, update.prop_diff)
    assert drive(delay).is_complete(Action.UPDATE, token)


def test_a_delay_longer_than_the_stack_may_take_is_refused(make, stack):
    delay = make(Delay, {"min_wait": 3000, "max_jitter": 601})
    assert problems(Delay, delay.definition, stack) == [
        (
            "resources.server.properties",
            "It would wait longer than the 3600 seconds that an action on the stack may take.",
        )
    ]
    assert problems(Delay, make(Delay, {"min_wait": 3600}).definition, stack) == []


# -- those that only say something ----------------------------------------------------------------


def test_an_access_policy_allows_what_it_lists(make):
    policy = make(AccessPolicy, {"AllowedResources": ["web"]})
    assert drive(policy).is_complete(Action.CREATE, drive(policy).start(Action.CREATE))
    assert policy.access_allowed("web")
    assert not policy.access_allowed("db")


def test_a_restarter_takes_anything_and_does_nothing(make):
    restarter = make(HARestarter, {"InstanceId": "i"})
    assert drive(restarter).is_complete(Action.CREATE, drive(restarter).start(Action.CREATE))
    assert restarter.get_attribute("AlarmUrl") is None
