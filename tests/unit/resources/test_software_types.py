# SPDX-License-Identifier: Apache-2.0
"""What software configs and deployments make of what they are given."""

from __future__ import annotations

from email import message_from_string
from typing import Any

import pytest

from heatconv import errors
from heatconv.model.definition import Definition
from heatconv.model.software import SoftwareConfig as Config
from heatconv.resources.exception import Error
from heatconv.resources.heat import derived_config
from heatconv.resources.heat.multi_part import MultipartMime
from heatconv.resources.heat.software_component import SoftwareComponent
from heatconv.resources.heat.software_config import SoftwareConfig
from heatconv.resources.heat.software_deployment import SoftwareDeployment
from heatconv.resources.heat.structured_deployment import filled_in
from heatconv.resources.validation import problems


def refused(cls, properties, stack):
    return problems(cls, Definition(name="r", type="T", properties=properties), stack)


def parts_of(resource):
    text = resource.content()["config"]
    return [part for part in message_from_string(text).walk() if not part.is_multipart()]


# -- validation ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "wrong"),
    [
        ([{"name": "a", "type": "Number", "default": "3"}], []),
        ([{"name": "a", "type": "Json", "default": '{"a": 1}'}], []),
        ([{"name": "a", "type": "CommaDelimitedList", "default": "a,b"}], []),
        ([{"name": "a", "type": "Boolean", "default": ""}], []),
        ([{"name": "a", "type": "Number", "default": {"$fn": "get_resource", "args": "x"}}], []),
        ([{"name": "a"}, {"name": "b", "type": "Boolean", "default": "x"}], ["inputs[1].default"]),
        ([{"name": "a", "type": "Json", "default": "x"}], ["inputs[0].default"]),
        ([{"name": "a", "type": "Text"}], ["inputs[0].type"]),
        ([{"description": "nameless"}], ["inputs[0].name"]),
    ],
)
def test_inputs_are_checked(stack, inputs, wrong):
    found = refused(SoftwareConfig, {"inputs": inputs}, stack)
    assert [path for path, _ in found] == [f"resources.r.properties.{path}" for path in wrong]


def test_no_two_configs_of_a_component_are_for_one_action(stack):
    configs = [{"tool": "script"}, {"tool": "script", "actions": ["UPDATE", "DELETE"]}]
    (problem,) = refused(SoftwareComponent, {"configs": configs}, stack)
    assert problem[0] == "resources.r.properties.configs"
    assert "UPDATE" in problem[1]
    assert refused(SoftwareComponent, {"configs": configs[:1]}, stack) == []
    assert refused(SoftwareComponent, {"configs": []}, stack)


@pytest.mark.parametrize("transport", ["CFN_SIGNAL", "HEAT_SIGNAL", "NO_SIGNAL"])
def test_transports_that_can_be_had(stack, transport):
    assert refused(SoftwareDeployment, {"server": "s", "signal_transport": transport}, stack) == []


def test_actions_are_those_of_a_resource(stack):
    (problem,) = refused(SoftwareDeployment, {"server": "s", "actions": ["CREATE", "BOIL"]}, stack)
    assert problem[0] == "resources.r.properties.actions"


# -- multipart messages ----------------------------------------------------------------


def test_a_message_has_its_parts_in_order(make):
    made = make(
        MultipartMime,
        {
            "parts": [
                {"config": "#!/bin/sh\n", "subtype": "x-shellscript", "filename": "run.sh"},
                {"config": "pass\n", "filename": "part-handler.py"},
                {"config": "für alle"},
            ]
        },
    )
    script, handler, text = parts_of(made)
    assert (script.get_content_type(), script.get_filename()) == ("text/x-shellscript", "run.sh")
    assert script.get_payload() == "#!/bin/sh\n"
    assert handler.get_content_type() == "text/part-handler"
    assert text.get_content_type() == "text/plain"
    assert text.get_payload(decode=True).decode(text.get_content_charset()) == "für alle"


def test_the_parts_of_a_message_in_a_message_are_added_to_it(make):
    inner = make(MultipartMime, {"parts": [{"config": "für", "subtype": "a"}, {"config": "2"}]})
    text = inner.content()["config"]
    outer = make(MultipartMime, {"parts": [{"config": text, "type": "multipart"}, {"config": "3"}]})
    found = [part.get_payload(decode=True).decode(part.get_content_charset()) for part in parts_of(outer)]
    assert found == ["für", "2", "3"]


def test_a_message_is_the_same_however_often_it_is_made(make):
    made = make(MultipartMime, {"parts": [{"config": "1"}]})
    assert made.content() == made.content()


# -- runs ------------------------------------------------------------------------------


def test_inputs_get_their_values_and_what_is_not_declared_is_added():
    declared: list[dict[str, Any]] = [
        {"name": "a", "type": "Number", "default": 1},
        {"name": "b", "type": "String"},
    ]
    assert derived_config.inputs(declared, {"b": "x", "c": None}) == [
        {"name": "a", "type": "Number", "default": 1, "value": 1},
        {"name": "b", "type": "String", "value": "x"},
        {"name": "c", "type": "String", "value": None},
    ]


@pytest.mark.parametrize(
    ("before", "after", "replaces"),
    [
        ([{"name": "a", "value": 1}], [{"name": "a", "value": 2, "replace_on_change": True}], True),
        ([{"name": "a", "value": 1}], [{"name": "a", "value": 1, "replace_on_change": True}], False),
        ([{"name": "a", "value": 1}], [{"name": "a", "value": 2}], False),
        ([], [{"name": "a", "value": 2, "replace_on_change": True}], False),
    ],
)
def test_an_input_may_ask_for_a_replacement(before, after, replaces):
    assert derived_config.replaces(before, after) is replaces


def test_a_run_is_told_by_what_is_run_and_not_by_where_to_answer():
    def run(url, value):
        inputs = [{"name": "deploy_signal_id", "value": url}, {"name": "a", "value": value}]
        return derived_config.with_digest(Config(id=url, inputs=inputs)).run

    assert run("http://a", 1) == run("http://b", 1) != run("http://a", 2)


@pytest.mark.parametrize(
    ("details", "faults"),
    [
        ({}, 0),
        ({"deploy_status_code": 0}, 0),
        ({"deploy_status_code": "0"}, 0),
        ({"deploy_status_code": "1"}, 1),
        ({"deploy_status_code": -9, "trouble": "x"}, 2),
        ({"trouble": None}, 0),
        ({"trouble": "x"}, 1),
    ],
)
def test_what_counts_as_a_failure(details, faults):
    config = Config(id="c", outputs=[{"name": "answer"}, {"name": "trouble", "error_output": True}])
    assert len(derived_config.answer(config, details).faults) == faults


def test_only_outputs_that_are_declared_are_kept():
    config = Config(id="c", outputs=[{"name": "answer"}])
    details = {"answer": {"a": 1}, "other": 2, "deploy_stdout": "x"}
    assert derived_config.answer(config, details).outputs == {
        "answer": {"a": 1},
        "deploy_stdout": "x",
        "deploy_stderr": None,
        "deploy_status_code": None,
    }


# -- structured deployments ------------------------------------------------------------


def test_inputs_are_filled_in_at_any_depth():
    config = {"a": [{"get": "x"}, {"get": "x", "more": 1}], "b": {"get": ["x"]}, "c": {"get": "y"}}
    assert filled_in(config, "get", {"x": {"get": "x"}}, strict=False) == {
        "a": [{"get": "x"}, {"get": "x", "more": 1}],
        "b": {"get": ["x"]},
        "c": None,
    }


def test_strictly_every_input_has_to_be_there():
    assert filled_in({"a": {"get": "x"}}, "get", {"x": None}, strict=True) == {"a": None}
    with pytest.raises(Error, match="the input 'y'; give it a value in input_values"):
        filled_in({"a": {"get": "y"}}, "get", {"x": 1}, strict=True)


def test_where_nothing_is_deployed_nothing_can_be_told(make):
    resource = make(SoftwareDeployment, {"server": "s"})
    with pytest.raises(errors.NotSupported):
        resource.get_attribute("deploy_stdout")
