# SPDX-License-Identifier: Apache-2.0
"""The types that groups make are there, or it is told where one is named that is not."""

from __future__ import annotations

import pytest

from heatconv.engine import nesting
from heatconv.model.definition import Definition
from heatconv.resources.heat.autoscaling_group import AutoScalingResourceGroup
from heatconv.resources.heat.instance_group import InstanceGroup
from heatconv.resources.heat.resource_chain import ResourceChain
from heatconv.resources.heat.resource_group import ResourceGroup
from heatconv.resources.registry import Registry

FILES = {
    "good.yaml": "heat_template_version: 2015-04-30\nresources: {x: {type: 'OS::Heat::None'}}",
    "bad.yaml": "heat_template_version: 2015-04-30\nresources: {x: {type: 'No::Such'}}",
}


def problems(class_, properties, mapped, operators=None):
    operator = {"resource_registry": operators or {}}
    known = nesting.Known(registry=Registry.load([]), files=FILES, operator=operator)
    definition = Definition(name="G", type="T", properties=properties)
    return list(nesting.problems_of_members(class_, definition, {"resource_registry": mapped}, known))


def of(type_):
    return {"resource_def": {"type": type_}}


@pytest.mark.parametrize(
    ("class_", "properties", "mapped"),
    [
        (ResourceGroup, of("OS::Heat::None"), {}),
        (ResourceGroup, of("good.yaml"), {}),
        (ResourceGroup, of("My::Type"), {"My::Type": "good.yaml"}),
        (ResourceGroup, of("My::Type"), {"resources": {"G": {"0": {"My::Type": "good.yaml"}}}}),
        (ResourceGroup, {"count": 0, **of("No::Such")}, {}),
        (ResourceGroup, of({"$fn": "get_attr", "args": ["other", "type"]}), {}),
        (ResourceGroup, {}, {}),
        (AutoScalingResourceGroup, {"resource": {"type": "OS::Heat::None"}}, {}),
        (ResourceChain, {"resources": ["OS::Heat::None", "good.yaml"]}, {}),
    ],
)
def test_types_that_are_there(class_, properties, mapped):
    assert problems(class_, properties, mapped) == []


def test_an_operator_may_say_what_a_type_is():
    mapped, operators = (
        {"AWS::EC2::Instance": "good.yaml"},
        {"OS::Heat::ScaledResource": "AWS::EC2::Instance"},
    )

    assert problems(InstanceGroup, {}, mapped, operators) == []
    [(_path, sentence)] = problems(InstanceGroup, {}, {}, operators)
    assert "no resource type AWS::EC2::Instance" in sentence


@pytest.mark.parametrize(
    ("class_", "properties", "mapped", "place", "wrong"),
    [
        (ResourceGroup, of("No::Such"), {}, "resource_def.type", "no resource type No::Such"),
        (ResourceGroup, of("missing.yaml"), {}, "resource_def.type", "no file missing.yaml"),
        (ResourceGroup, of("bad.yaml"), {}, "resource_def.type", "In bad.yaml: resources.x.type"),
        (ResourceGroup, of("A"), {"A": "No::Such"}, "resource_def.type", "no resource type No::Such"),
        (AutoScalingResourceGroup, {"resource": {"type": "A"}}, {}, "resource.type", "no resource type A"),
        (ResourceChain, {"resources": ["good.yaml", "A"]}, {}, "resources[1]", "no resource type A"),
    ],
)
def test_types_that_are_not_there(class_, properties, mapped, place, wrong):
    [(path, sentence)] = problems(class_, properties, mapped)

    assert path == f"resources.G.properties.{place}"
    assert wrong in sentence
