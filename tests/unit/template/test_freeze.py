# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heatconv.errors import Invalid
from heatconv.model.deferred import Reference, contains_deferred
from heatconv.model.definition import Definition
from heatconv.model.states import DeletionPolicy
from heatconv.template import freeze, merge, resolve

HOT = {"heat_template_version": "wallaby"}


def resources(**snippets):
    return HOT | {"resources": snippets}


def test_a_template_is_evaluated_down_to_what_run_time_knows(frozen):
    result = frozen(
        """
        heat_template_version: 2018-08-31
        description: A pair
        parameters:
          size: {type: number, default: 2}
        resources:
          one:
            type: OS::Heat::Value
            properties: {value: {get_param: size}}
          two:
            type: OS::Heat::Value
            description: the other
            depends_on: one
            metadata: {name: {list_join: ["-", [{get_param: "OS::stack_name"}, x]]}}
            update_policy: {p: {get_param: size}}
            properties:
              value:
                str_replace:
                  template: "%a %b"
                  params: {"%a": {get_param: size}, "%b": {get_attr: [one, value, 0]}}
        outputs:
          o: {description: d, value: {get_resource: two}}
        """
    )
    assert result.version.name == "2018-08-31"
    assert result.description == "A pair"
    one, two = result.definitions["one"], result.definitions["two"]
    assert one.properties == {"value": 2}
    late = {"$fn": "get_attr", "args": ["one", "value", 0]}
    assert two == Definition(
        name="two",
        type="OS::Heat::Value",
        properties={
            "value": {"$fn": "str_replace", "args": {"template": "%a %b", "params": {"%a": 2, "%b": late}}}
        },
        metadata={"name": "teststack-x"},
        depends_on=("one",),
        update_policy={"p": 2},
        description="the other",
    )
    assert two.references == {Reference("one", "value", (0,))}
    output = result.outputs["o"]
    assert (output.name, output.description, output.condition_holds) == ("o", "d", True)
    assert output.value == {"$fn": "get_resource", "args": "two"}


def test_an_empty_template_is_fine(frozen):
    result = frozen(HOT | {"resources": None, "outputs": None, "parameters": None, "conditions": None})
    assert result.definitions == {}
    assert result.outputs == {}
    assert result.description == ""


def test_every_mistake_is_reported_at_once(problems_of):
    found = problems_of(
        """
        heat_template_version: rocky
        parameters: {p: {type: strin}}
        conditions: {c: {equals: [1]}}
        resources:
          a:
            type: T
            properties: {x: [1, {list_join: [1, []]}], y: {get_resource: nope}, z: {get_param: nope}}
            dependson: b
          b: {type: T, depends_on: [nope, a], condition: nope}
          c/d: {type: T}
          e: {}
          f: {type: [T]}
          g: text
          h: {type: T, deletion_policy: delet, properties: [], metadata: 1, description: [], external_id: 1}
          i: {type: T, properties: {x: {get_attr: [a, b]}, y: {get_attr: [e, b]}}, depends_on: {}}
        outputs:
          o: {value: {get_file: nope}, extra: 1}
          p: {description: 1}
          q: text
          r: {value: 1, description: []}
        """,
        {"unknown": 1},
    )
    assert set(found) == {
        "parameters.p.type",
        "parameters.unknown",
        "conditions.c.equals",
        "resources.a.properties.x[1].list_join[0]",
        "resources.a.properties.y.get_resource",
        "Property error: : resources.a.properties.z: ",
        "resources.a.dependson",
        "resources.b.condition",
        "resources.c/d",
        "resources.e.type",
        "resources.f.type",
        "resources.g",
        "resources.h.deletion_policy",
        "resources.h.properties",
        "resources.h.metadata",
        "resources.h.description",
        "resources.h.external_id",
        "resources.i.depends_on",
        "outputs.o.value.get_file",
        "outputs.o.extra",
        "outputs.p",
        "outputs.q",
        "outputs.r.description",
    }
    assert "no resource 'nope'" in found["resources.a.properties.y.get_resource"]
    assert found["Property error: : resources.a.properties.z: "] == "The Parameter (nope) was not provided."
    assert "no file 'nope'" in found["outputs.o.value.get_file"]
    assert "There is no 'dependson' here; there are type" in found["resources.a.dependson"]


def test_mistakes_past_a_thousand_are_counted(frozen):
    with pytest.raises(Invalid) as caught:
        frozen(HOT | {"outputs": {"o": {"value": [{"get_param": str(i)} for i in range(1500)]}}})
    assert len(caught.value.problems) == 1001
    assert caught.value.problems[-1] == ("", "There are 500 more mistakes.")


def test_names_of_parameters_and_resources_must_not_overlap(problems_of):
    template = resources(x={"type": "T"}) | {"parameters": {"x": {"type": "string", "default": ""}}}
    assert "A parameter has the same name" in problems_of(template)["resources.x"]


# -- dependencies -----------------------------------------------------------------------------------


def test_depends_on_is_a_name_or_a_list(frozen, problems_of):
    definitions = frozen(
        resources(
            a={"type": "T"},
            b={"type": "T", "depends_on": "a"},
            c={"type": "T", "depends_on": ["b", "a", "b"]},
            d={"type": "T", "depends_on": {"get_param": "OS::stack_name"}},
            teststack={"type": "T"},
        )
    ).definitions
    assert definitions["a"].depends_on == ()
    assert definitions["b"].depends_on == ("a",)
    assert definitions["c"].depends_on == ("b", "a")
    assert definitions["d"].depends_on == ("teststack",)
    found = problems_of(
        resources(a={"type": "T", "depends_on": "x"}, b={"type": "T", "depends_on": ["a", 1]})
    )
    assert found == {
        "resources.a.depends_on": "There is no resource 'x'.",
        "resources.b.depends_on[1]": "There is no resource 1.",
    }


def test_a_circle_names_its_members(problems_of):
    found = problems_of(
        resources(
            A={"type": "T", "properties": {"x": {"get_resource": "B"}}},
            B={"type": "T", "depends_on": "C"},
            C={"type": "T", "metadata": {"x": {"list_join": ["", [{"get_attr": ["A", "x"]}]]}}},
        )
    )
    assert found == {"resources.A": "Circular dependency: A -> B -> C -> A."}
    assert "A -> A" in problems_of(resources(A={"type": "T", "depends_on": "A"}))["resources.A"]


def test_ten_thousand_resources_in_a_chain_are_frozen(frozen):
    chain = {f"r{i}": {"type": "T", "depends_on": f"r{i - 1}"} for i in reversed(range(1, 10_000))}
    assert len(frozen(resources(r0={"type": "T"}, **chain)).definitions) == 10_000


def test_three_thousand_resources_are_frozen_in_a_second():
    snippets = {
        f"r{i}": {
            "type": "T",
            "properties": {
                "previous": {"get_attr": [f"r{max(i - 1, 0)}", "value"]} if i else None,
                "static": [{"a": 1, "b": [1, 2, 3]}] * 3,
                "name": {"str_replace": {"template": "x y", "params": {"x": {"get_param": "p"}}}},
            },
        }
        for i in range(3000)
    }
    template = resources(**snippets) | {"parameters": {"p": {"type": "string", "default": "v"}}}
    environment = merge(None, [], {}, {})
    started = time.process_time()
    result = freeze(template, environment, {}, {})
    assert time.process_time() - started < 1
    assert result.definitions["r7"].properties["name"] == "v y"


# -- parts of a resource ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "written", "policy"),
    [
        ("2013-05-23", "Delete", "Delete"),
        ("2013-05-23", "Retain", "Retain"),
        ("2013-05-23", "Snapshot", "Snapshot"),
        ("2013-05-23", "retain", None),
        ("2016-04-08", "retain", None),
        ("2016-10-14", "retain", "Retain"),
        ("2016-10-14", "snapshot", "Snapshot"),
        ("2016-10-14", {"get_param": "policy"}, "Retain"),
        ("2016-10-14", {"get_resource": "b"}, None),
        ("2016-10-14", ["Delete"], None),
    ],
)
def test_deletion_policies(frozen, problems_of, version, written, policy):
    template = {
        "heat_template_version": version,
        "parameters": {"policy": {"type": "string", "default": "Retain"}},
        "resources": {"a": {"type": "T", "deletion_policy": written}, "b": {"type": "T"}},
    }
    if policy is None:
        assert set(problems_of(template)) == {"resources.a.deletion_policy"}
    else:
        assert frozen(template).definitions["a"].deletion_policy is DeletionPolicy(policy)


def test_what_was_there_before_is_retained(frozen, problems_of):
    snippet = {"type": "T", "external_id": {"get_param": "OS::stack_id"}, "deletion_policy": "delete"}
    definition = frozen(resources(a=snippet)).definitions["a"]
    assert definition.external_id == "1234"
    assert definition.deletion_policy is DeletionPolicy.RETAIN
    old = {"heat_template_version": "2016-04-08", "resources": {"a": {"type": "T", "external_id": "x"}}}
    assert "resources.a.external_id" in problems_of(old)
    deferred = resources(a={"type": "T", "external_id": {"get_resource": "b"}}, b={"type": "T"})
    assert "must not depend on another resource" in problems_of(deferred)["resources.a.external_id"]


def test_properties_can_be_chosen_but_not_be_unknown_as_a_whole(frozen, problems_of):
    chosen = {"type": "T", "properties": {"if": [True, {"a": 1}, {}]}, "metadata": {"if": [False, {}]}}
    definition = frozen(resources(a=chosen)).definitions["a"]
    assert definition.properties == {"a": 1}
    assert definition.metadata == {}
    late = {"get_attr": ["b", "x"]}
    template = resources(a={"type": "T", "metadata": late}, b={"type": "T"})
    assert contains_deferred(frozen(template).definitions["a"].metadata)
    template = resources(a={"type": "T", "properties": late}, b={"type": "T"})
    assert "Only values inside" in problems_of(template)["resources.a.properties"]


# -- look-ups -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ({"get_param": "p"}, {"a": [1, {"b": 2}], "3": 4}),
        ({"get_param": ["p"]}, {"a": [1, {"b": 2}], "3": 4}),
        ({"get_param": ["p", "a", 1, "b"]}, 2),
        ({"get_param": ["p", "a", "0"]}, 1),
        ({"get_param": ["p", 3]}, 4),
        ({"get_param": ["p", "x", "y"]}, ""),
        ({"get_param": ["p", "a", 7]}, ""),
        ({"get_param": ["p", "a", "x"]}, ""),
        ({"get_param": ["p", "a", 0, "x"]}, ""),
        ({"get_param": ["p", {"get_param": "key"}, 0]}, 1),
        ({"get_param": "OS::project_id"}, "p1"),
        ({"get_param": {"get_param": "key2"}}, "a"),
        ({"get_file": "f"}, "content"),
        ({"get_file": {"list_join": ["", ["f"]]}}, "content"),
        ({"resource_facade": "metadata"}, {"m": 1}),
        ({"resource_facade": "update_policy"}, None),
    ],
)
def test_look_ups(value_of, call, value):
    parameters = {
        "p": {"type": "json", "default": {"a": [1, {"b": 2}], "3": 4}},
        "key": {"type": "string", "default": "a"},
        "key2": {"type": "string", "default": "key"},
    }
    facade = {"metadata": {"m": 1}}
    assert value_of(call, parameters=parameters, files={"f": "content"}, facade=facade) == value


@pytest.mark.parametrize(
    ("call", "path", "sentence"),
    [
        ({"get_param": "x"}, "get_param", "The Parameter (x) was not provided."),
        ({"get_param": []}, "get_param", "takes the name of a parameter"),
        ({"get_param": {"a": 1, "b": 2}}, "get_param", "takes the name of a parameter"),
        ({"get_param": {"get_attr": ["a", "x"]}}, "get_param", "only run time can know"),
        ({"get_file": "x"}, "get_file", "There is no file 'x'"),
        ({"get_file": 1}, "get_file", "It takes the name of a file, not a number (1)."),
        ({"get_file": None}, "get_file", "not null"),
        ({"get_file": {"get_resource": "a"}}, "get_file", "must not depend on another resource"),
        ({"resource_facade": "metadata"}, "resource_facade", "nested in another one"),
        ({"resource_facade": "name"}, "resource_facade", "one of metadata, deletion_policy"),
        ({"get_resource": "x"}, "get_resource", "There is no resource 'x'."),
        ({"get_resource": ["a"]}, "get_resource", "It takes the name of a resource"),
        ({"get_attr": "a"}, "get_attr", "It takes a list of a resource"),
        ({"get_attr": []}, "get_attr", "It takes a list of a resource"),
        ({"get_attr": ["x", "y"]}, "get_attr[0]", "There is no resource 'x'."),
        ({"get_attr": [{"get_resource": "a"}, "y"]}, "get_attr[0]", "only run time can know"),
        ({"get_attr": ["a", 1]}, "get_attr[1]", "The attribute has to be a name, not a number (1)."),
        ({"get_attr": ["a", "x", True]}, "get_attr[2]", "A path has texts and numbers only"),
        ({"get_attr": ["a", "x", None]}, "get_attr[2]", "A path has texts and numbers only, not null"),
    ],
)
def test_look_ups_that_fail(problem_of, call, path, sentence):
    found_path, found_sentence = problem_of(call)
    assert found_path == path
    assert sentence in found_sentence


def test_get_attr_says_how_far_the_path_is_pushed(value_of, problem_of):
    call = {"get_attr": ["a", "x", "y", 0]}
    assert value_of(call, version="2014-10-16") == {"$fn": "get_attr", "args": ["a", "x", "y", 0]}
    assert value_of(call, version="2013-05-23") == {
        "$fn": "get_attr@2013-05-23",
        "args": [{"$fn": "get_attr", "args": ["a", "x"]}, "y", 0],
    }
    assert value_of({"get_attr": ["a", "x"]}, version="2013-05-23") == {"$fn": "get_attr", "args": ["a", "x"]}
    assert value_of({"get_attr": ["a"]}, version="2015-10-15") == {"$fn": "get_attr", "args": ["a"]}
    assert problem_of({"get_attr": ["a"]}, version="2015-04-30")[0] == "get_attr"


def test_deferred_calls_name_what_their_version_means(value_of):
    late = {"get_resource": "a"}
    frozen_late = {"$fn": "get_resource", "args": "a"}
    assert value_of({"list_join": [",", [late]]}, version="2013-05-23") == {
        "$fn": "list_join@2013-05-23",
        "args": [",", [frozen_late]],
    }
    assert value_of({"list_join": [",", [late]]}) == {"$fn": "list_join", "args": [",", [frozen_late]]}


def test_the_shape_of_a_deferred_call_is_checked(problem_of, value_of):
    late = {"get_attr": ["a", "x"]}
    assert problem_of({"str_replace": {"template": late, "params": {}, "x": 1}})[0] == "str_replace"
    assert problem_of({"digest": [late]})[0] == "digest"
    assert value_of({"digest": late}) == {"$fn": "digest", "args": {"$fn": "get_attr", "args": ["a", "x"]}}


def test_a_mistake_beside_does_not_hide_others(problems_of):
    template = HOT | {
        "outputs": {"o": {"value": [{"get_param": "x"}, {"if": [True, {"get_param": "y"}, 1]}]}}
    }
    assert set(problems_of(template)) == {
        "outputs.o.value[0].get_param",
        "outputs.o.value[1].if[1].get_param",
    }


# -- literals ------------------------------------------------------------------------------------------


def test_a_map_that_looks_like_a_deferred_call_stays_a_literal(value_of):
    literal = {"$fn": "get_resource", "args": "a"}
    value = value_of(literal)
    assert value == {"$fn": "literal", "args": [["$fn", "get_resource"], ["args", "a"]]}
    assert resolve(value, {}) == literal


def test_parameters_and_files_are_never_evaluated(value_of):
    looks_like_a_call = {"get_param": "x", "$fn": "get_resource"}
    nested = [{"get_resource": "a"}, looks_like_a_call]
    parameters = {"p": {"type": "json", "default": nested}}
    assert resolve(value_of({"get_param": "p"}, parameters=parameters), {}) == nested
    assert value_of({"get_file": "f"}, files={"f": "{get_param: x}"}) == "{get_param: x}"
    made = {"map_replace": [{"x": "a"}, {"keys": {"x": "get_resource"}}]}
    assert value_of(made) == {"get_resource": "a"}


KEYS = st.sampled_from(["$fn", "args", "a", "b", "literal"])
LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["a", "get_resource", "$fn"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(LITERALS)
def test_freezing_never_evaluates_a_literal(literal):
    template = HOT | {
        "parameters": {"p": {"type": "json"}},
        "resources": {"a": {"type": "T"}},
        "outputs": {"written": {"value": literal}, "given": {"value": [{"get_param": "p"}]}},
    }
    result = freeze(template, merge(None, [], {}, {"p": {"x": literal}}), {}, {})
    assert resolve(result.outputs["written"].value, {}) == literal
    assert resolve(result.outputs["given"].value, {}) == [{"x": literal}]
