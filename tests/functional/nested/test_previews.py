# SPDX-License-Identifier: Apache-2.0
"""A preview tells what there would be in a tree of stacks, and makes none of it."""

from __future__ import annotations

import json

import pytest

from heatconv.client.http import ClientError
from tests.functional.nested.conftest import hot, server

PAIR = hot(
    {"A": server({"get_param": "value"}), "B": server("b", uses=[{"get_resource": "A"}])},
    {"told": {"value": {"get_attr": ["B", "value"]}}},
    {"value": {"type": "string"}},
)
FILES = {"pair.yaml": json.dumps(PAIR)}


def pair(value):
    return {"type": "pair.yaml", "properties": {"value": value}}


def group(count, member=None):
    member = member or server("%index%")
    return {"type": "OS::Heat::ResourceGroup", "properties": {"count": count, "resource_def": member}}


def made(tree, resources, **body):
    """Return what would be made: the names of resources, and lists of names."""
    body = {"stack_name": tree.name, "template": hot(resources), **body}
    shown = tree.client.preview_create(body)["resources"]
    assert tree.state() is None
    return names(shown)


def names(shown):
    return [names(each) if isinstance(each, list) else each["resource_name"] for each in shown]


def changes(tree, resources, *, show_nested=True, **body):
    """Return what would change by kind: names, with those of the owners of the stacks that they are in."""
    body = {"template": hot(resources), **body}
    preview = tree.client.preview_update(tree.name, body, show_nested=show_nested)
    found = {
        kind: sorted(
            "/".join(filter(None, (each.get("parent_resource"), each["resource_name"]))) for each in some
        )
        for kind, some in preview.items()
    }
    return {kind: some for kind, some in found.items() if some}


def test_in_place_of_a_nested_stack_are_its_resources(tree):
    resources = {"P": pair("x"), "C": server("c")}

    assert made(tree, resources, files=FILES) == [["A", "B"], "C"]


@pytest.mark.parametrize(
    ("resource", "count"),
    [
        (group(3), 3),
        (group(0), 0),
        ({"type": "OS::Heat::ResourceChain", "properties": {"resources": ["OS::Heat::None"] * 2}}, 2),
        (
            {
                "type": "OS::Heat::AutoScalingGroup",
                "properties": {
                    "min_size": 1,
                    "max_size": 9,
                    "desired_capacity": 4,
                    "resource": {"type": "OS::Heat::None"},
                },
            },
            4,
        ),
    ],
)
def test_groups_show_their_members(tree, resource, count):
    (inside,) = made(tree, {"G": resource})

    assert len(inside) == count


def test_stacks_inside_a_group_are_shown_too(tree):
    assert made(tree, {"G": group(2, pair("%index%"))}, files=FILES) == [[["A", "B"], ["A", "B"]]]


def test_what_depends_on_what_is_to_be_made_is_shown_as_far_as_it_does_not(tree):
    resources = {
        "C": server("2"),
        "G": group({"get_attr": ["C", "id"]}),
        "P": pair({"get_attr": ["C", "id"]}),
        "Q": group({"get_attr": ["C", "value"]}),  # which follows from the properties of C
    }

    assert made(tree, resources, files=FILES) == ["C", "G", ["A", "B"], ["0", "1"]]


HANDLE = hot(
    {
        "H": {
            "type": "OS::Heat::WaitConditionHandle",
            "properties": {"signal_transport": {"get_param": "value"}},
        }
    },
    {},
    {"value": {"type": "string"}},
)


def test_what_is_not_known_yet_is_not_judged_far_below(tree):
    """A name stands for what a resource refers to, and is no more than a guess."""
    resources = {"C": server("c"), "G": group(1, pair({"get_resource": "C"}))}

    assert made(tree, resources, files={"pair.yaml": json.dumps(HANDLE)}) == ["C", [["H"]]]
    with pytest.raises(ClientError, match="not an allowed value"):
        made(tree, {"G": group(1, pair("C"))}, files={"pair.yaml": json.dumps(HANDLE)})


def test_what_cannot_be_is_told(tree):
    broken = {**FILES, "pair.yaml": json.dumps(hot({"A": server("a", size="no number")}))}

    with pytest.raises(ClientError, match=r"resources\.P.*resources\.A\.properties\.size"):
        made(tree, {"P": {"type": "pair.yaml"}}, files=broken)


def test_a_template_that_includes_itself_is_not_followed_for_ever(tree):
    endless = {"self.yaml": json.dumps(hot({"inner": {"type": "self.yaml"}}))}

    with pytest.raises(ClientError, match="Recursion depth exceeds"):
        made(tree, {"P": {"type": "self.yaml"}}, files=endless)


def test_an_update_shows_what_changes_below(tree):
    tree.create({"P": pair("x"), "Q": pair("y"), "R": pair("z"), "G": group(2)}, files=FILES)
    tree.calls()
    wanted = {"P": pair("x"), "Q": pair("new"), "S": pair("s"), "G": group(3)}

    assert changes(tree, wanted, files=FILES) == {
        "unchanged": ["G/0", "G/1", "P/A", "P/B", "Q/B"],
        "updated": ["G", "P", "Q", "Q/A"],  # an update goes into each nested stack
        "added": ["G/2", "S", "S/A", "S/B"],
        "deleted": ["R", "R/A", "R/B"],
    }
    assert changes(tree, wanted, show_nested=False, files=FILES) == {
        "unchanged": ["P"],
        "updated": ["G", "Q"],
        "added": ["S"],
        "deleted": ["R"],
    }
    assert tree.calls() == []


def test_a_replacement_is_a_deletion_and_an_addition_below(tree):
    tree.create({"P": pair("x")}, files=FILES)

    assert changes(tree, {"P": group(1)}, files=FILES) == {
        "replaced": ["P"],
        "added": ["P/0"],
        "deleted": ["P/A", "P/B"],
    }


def test_what_is_below_says_where_it_is(tree):
    tree.create({"P": pair("x")}, files=FILES)

    preview = tree.client.preview_update(
        tree.name, {"template": hot({"P": pair("new")}), "files": FILES}, show_nested=True
    )

    (inner,) = (each for each in preview["updated"] if each["resource_name"] == "A")
    assert inner["stack_identity"]["stack_id"] == tree.nested("P")
    assert inner["physical_resource_id"] in {found["id"] for found in tree.owned()}
