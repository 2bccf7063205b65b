# SPDX-License-Identifier: Apache-2.0
"""What an engine remembers of the stacks it has frozen."""

from __future__ import annotations

import pytest

from heatconv import errors
from heatconv.engine.freezing import freeze, parse
from heatconv.engine.memory import Memory
from heatconv.model.states import Action
from heatconv.resources import attributes, constraints, properties
from heatconv.resources.facts import StackFacts
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource


class Quiet(Resource):
    properties_schema = {"value": properties.Schema(properties.Schema.ANY)}
    attributes_schema = {"value": attributes.Schema("Its value.")}


def quiet(**members):
    """Return a type like ``Quiet`` but for some members."""
    return type("Loud", (Quiet,), members)


def frozen(memory, class_=Quiet, *, stack="1", count=Memory.LEAST, **properties_):
    resources = {f"r{n}": {"type": "A::Type", "properties": properties_} for n in range(count)}
    posted = {"template": {"heat_template_version": "2021-04-16", "resources": resources}}
    facts = StackFacts(id=stack, name="web", project_id="mine", action=Action.UPDATE)
    source = parse(posted, max_template_size=1 << 20)
    wanted = freeze(source, facts, Registry({"A::Type": class_}), memory=memory)
    return {name: target.definition for name, target in wanted.targets.items()}


def same(first, second):
    return all(first[name] is second[name] for name in first)


def test_a_stack_is_remembered():
    memory = Memory()

    first = frozen(memory, value="x")

    assert same(first, frozen(memory, value="x"))
    assert not same(first, frozen(memory, value="x", stack="2"))
    assert not same(first, frozen(memory, value="y"))


def test_what_is_small_or_too_large_is_not(monkeypatch):
    memory = Memory()
    monkeypatch.setattr(Memory, "MOST", Memory.LEAST + 1)

    for count in (Memory.LEAST - 1, Memory.LEAST + 2):
        assert not same(frozen(memory, count=count), frozen(memory, count=count))


def test_the_stack_that_was_frozen_least_lately_is_forgotten_first(monkeypatch):
    memory = Memory()
    monkeypatch.setattr(Memory, "MOST", 2 * Memory.LEAST)
    first, second = frozen(memory, stack="1"), frozen(memory, stack="2")
    assert same(first, frozen(memory, stack="1"))

    frozen(memory, stack="3")

    assert same(first, frozen(memory, stack="1"))
    assert not same(second, frozen(memory, stack="2"))


class Away(constraints.BaseCustomConstraint):
    found = True

    def validate(self, value, context):
        return self.found


def refuse(self):
    raise ValueError("It is gone by now.")


def test_what_others_have_a_say_in_is_asked_of_them_again(monkeypatch):
    monkeypatch.setitem(constraints.installed(), "test.away", Away)
    schema = properties.Schema(properties.Schema.ANY, constraints=[constraints.CustomConstraint("test.away")])
    inside = properties.Schema(properties.Schema.LIST, schema=schema)
    for declared, value in ((schema, "x"), (inside, ["x"])):
        class_ = quiet(properties_schema={"value": declared})
        memory = Memory()
        monkeypatch.setattr(Away, "found", True)
        frozen(memory, class_, value=value)

        monkeypatch.setattr(Away, "found", False)
        with pytest.raises(errors.Invalid) as caught:
            frozen(memory, class_, value=value)
        assert len(caught.value.problems) == Memory.LEAST


def test_they_are_not_asked_again_of_a_definition_that_gives_them_nothing_to_judge(monkeypatch):
    monkeypatch.setitem(constraints.installed(), "test.away", Away)
    schema = properties.Schema(properties.Schema.ANY, constraints=[constraints.CustomConstraint("test.away")])
    made = []

    def note(self, *arguments):
        Quiet.__init__(self, *arguments)
        made.append(self)

    class_ = quiet(properties_schema=Quiet.properties_schema | {"away": schema}, __init__=note)
    memory = Memory()
    for given, looked_at in (
        ({"value": "x"}, 1),
        ({"value": "x"}, 1),
        ({"away": "x"}, 2),
        ({"away": "x"}, 3),
    ):
        frozen(memory, class_, **given)
        assert len(made) == looked_at * Memory.LEAST


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("validate", lambda self: None, refuse),
        (
            "validate_deletion_policy",
            classmethod(lambda cls, policy: None),
            classmethod(lambda cls, policy: "no"),
        ),
        (
            "is_service_available",
            classmethod(lambda cls, context: (True, None)),
            classmethod(lambda cls, context: (False, "it is down")),
        ),
        ("translation_rules", lambda self, given: [], lambda self, given: refuse(self)),
    ],
)
def test_a_plugin_is_asked_again(name, before, after):
    class_, memory = quiet(**{name: before}), Memory()
    frozen(memory, class_, value="x")

    setattr(class_, name, after)

    with pytest.raises(errors.Invalid):
        frozen(memory, class_, value="x")
