# SPDX-License-Identifier: Apache-2.0
"""Digests of resource types."""

from __future__ import annotations

from importlib import metadata

import pytest

from heatconv.plans import types
from heatconv.resources.properties import Schema
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource


class Lamp(Resource):
    properties_schema = {
        "colour": Schema(Schema.STRING),
        "posts": Schema(Schema.LIST, schema=Schema(Schema.MAP)),
    }


class OtherLamp(Lamp):
    pass


@pytest.fixture(autouse=True)
def _afresh():
    types._of_class.cache_clear()
    yield
    types._of_class.cache_clear()


def changed(before, after):
    then = types.digests(Registry({"Lamp": before}), ["Lamp"])
    return list(types.changed(Registry({"Lamp": after}), then))


def test_a_type_that_is_the_same_is_not_changed():
    assert changed(Lamp, Lamp) == []


def test_another_class_is_another_type():
    (sentence,) = changed(Lamp, OtherLamp)

    assert "the type Lamp is another by now" in sentence
    assert f"it is implemented by {__name__}:OtherLamp, and was by {__name__}:Lamp" in sentence


def test_what_is_declared_inside_a_property_counts():
    def with_height(default):
        inside = {"height": Schema(Schema.INTEGER, default=default)}
        posts = Schema(Schema.LIST, schema=Schema(Schema.MAP, schema=inside))
        return type("Lamp", (Resource,), {"properties_schema": {"posts": posts}, "__module__": __name__})

    assert changed(with_height(3), with_height(3)) == []
    assert len(changed(with_height(3), with_height(4))) == 1


def test_a_newer_release_of_the_plugin_is_another_type(monkeypatch):
    monkeypatch.setattr(types, "_distributions", lambda: {"heatconv": ["heatconv"]})
    releases = iter(["1.0", "1.1"])
    monkeypatch.setattr(metadata, "version", lambda _name: next(releases))
    then = types.digests(Registry({"Lamp": Lamp}), ["Lamp"])
    types._of_class.cache_clear()

    assert list(types.changed(Registry({"Lamp": Lamp}), then)) == [
        "the type Lamp is another by now: it is of heatconv 1.1, and was of heatconv 1.0"
    ]


def test_a_type_that_was_not_there_is_not_held_against_a_plan():
    then = types.digests(Registry({}), ["Lamp"])

    assert list(types.changed(Registry({"Lamp": Lamp}), then)) == []
