# SPDX-License-Identifier: Apache-2.0
"""What is alike in a plan is said once, and nothing that is not alike is."""

from __future__ import annotations

import random
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from heatconv.cli import plan_graph, plan_text
from heatconv.cli.plan_outline import Outline
from tests.unit.cli.made_up_plans import change, plan, resource, unchecked_head

NOW = datetime(2026, 1, 31, 12, 5, tzinfo=UTC)


def outline(*resources, **options):
    made = Outline(NOW, **options)
    for each in resources:
        made.add(each)
    return made


def names(*resources):
    return [(entry.count, entry.names) for entry in outline(*resources).entries()]


def text(*resources, **head):
    """Return the lines of the tree, without what is above and below it."""
    lines = [line.plain for line in plan_text.lines(plan(*resources, **head), outline(*resources))]
    return lines[3 : lines.index("", 3)]


def members(count, group="workers", **more):
    return [resource(f"{group}.{number}", **more) for number in range(count)]


def test_four_that_are_alike_are_one_and_three_are_three():
    assert names(*(resource(name) for name in "abc")) == [(1, ["a"]), (1, ["b"]), (1, ["c"])]
    assert names(*(resource(name) for name in "abcd")) == [(4, ["a", "b", "c"])]


def test_members_of_a_group_are_counted_and_what_changes_is_named():
    image = change("image", "debian-12", "debian-13")
    group = resource("workers", type="OS::Heat::ResourceGroup")
    assert text(group, *members(400, changes=[image])) == [
        "~     workers  OS::Heat::ResourceGroup  id-of-workers",
        "  ~     400 members of workers: image  (0, 1, 2, ...)  OS::Nova::Server",
        '          image: "debian-12" -> "debian-13"',
    ]


def test_where_the_values_differ_one_is_an_example():
    changed = (members(1, f"w{at}", changes=[change("image", at, at + 1)]) for at in range(4))
    assert text(*(one for some in changed for one in some)) == [
        "      4 resources  (w0, w1, w2, ...)",
        "  ~     0  OS::Nova::Server",
        "          each differently; w0/0, for instance:",
        "          image: 0 -> 1",
    ]


def test_members_whose_changes_come_by_like_ways_are_alike():
    def member(at):
        above, port = ["workers", str(at)], ["workers", str(at), "port"]
        yield resource(f"workers.{at}", because=[{"sentence": "it is wanted", "via": [["workers"]]}])
        yield resource(f"workers.{at}.port", because=[{"sentence": "too", "via": [above, ["workers"]]}])
        yield resource(
            f"workers.{at}.server",
            because=[{"sentence": f"it follows {'/'.join(port)}", "via": [port, above, ["workers"]]}],
            hangs_on=[{"path": port, "attribute": None, "sentence": f"the id of {'/'.join(port)}"}],
        )

    inside = [each for at in range(9) for each in member(at)]
    assert text(resource("workers"), *inside) == [
        "~     workers  OS::Nova::Server  id-of-workers",
        "  ~     9 members of workers  (0, 1, 2, ...)  OS::Nova::Server",
        "          because it is wanted",
        "    ~     port  OS::Nova::Server",
        "            because too",
        "    ~     server  OS::Nova::Server",
        "            because it follows port",
        "            hangs on the id of port",
    ]
    made = outline(resource("workers"), *inside)
    assert set(plan_graph.graph(made)["edges"]) == {
        ("workers/0 and 8 alike", "workers"),
        ("workers/0/port and 8 alike", "workers/0 and 8 alike"),
        ("workers/0/server and 8 alike", "workers/0/port and 8 alike"),
    }


def test_members_that_have_something_inside_are_alike_if_that_is():
    inside = [resource(f"workers.{at}.{name}") for at in range(9) for name in ("port", "server")]
    inside[-1]["action"] = "replace"
    assert text(*inside) == [
        "      workers",
        "        8",
        "    -/+   server  OS::Nova::Server  id-of-server",
        "    ~     port  OS::Nova::Server  id-of-port",
        "        8 members of workers  (0, 1, 2, ...)",
        "    ~     port  OS::Nova::Server",
        "    ~     server  OS::Nova::Server",
    ]


def test_what_is_done_and_how_sure_it_is_is_never_rolled_up_together():
    resources = [resource(f"a{at}") for at in range(5)]
    resources += [resource(f"b{at}", possible=True) for at in range(5)]
    resources += [resource(f"c{at}", type="OS::Heat::Value") for at in range(5)]
    resources += [resource(f"d{at}", changes=[change("x", 1, 2)]) for at in range(5)]
    assert [count for count, _ in names(*resources)] == [5, 5, 5, 5]


def test_the_most_dangerous_comes_first_wherever_it_is():
    resources = [
        resource("looked_at", "check"),
        resource("new", "create"),
        resource("inside.deep.gone", "delete"),
        resource("changed"),
        resource("database", "replace"),
    ]
    assert [each for _, (each,) in names(*resources)] == ["database", "inside", "changed", "new", "looked_at"]


def test_what_is_cleared_away_beside_what_has_its_name_is_seen():
    gone = resource("server", "delete", physical_resource_id="old")
    for resources in ([resource("server"), gone], [gone, resource("server")]):
        shown = text(*resources)
        assert {line.split()[0] for line in shown} == {"-", "~"}
        assert len(shown) == 2


def test_of_what_is_as_dangerous_what_is_done_first_comes_first():
    resources = [resource("inner.b", order=3), resource("inner.a", order=2), resource("z", order=1)]
    resources += [resource("c", order=4)]
    entries = outline(*resources).entries()
    assert [(entry.names[0], [each.names[0] for each in entry.below]) for entry in entries] == [
        ("z", []),
        ("inner", ["a", "b"]),
        ("c", []),
    ]


def test_members_are_named_in_the_order_that_they_are_counted_in():
    mixed = members(12)
    random.Random(3).shuffle(mixed)
    assert text(*mixed)[1].startswith("  ~     12 members of workers  (0, 1, 2, ...)")
    assert names(*(resource(name) for name in ("10", "9", "b", "a")))[0] == (4, ["9", "10", "a"])


actions = st.sampled_from(["create", "update", "replace", "delete", "check"])
trees = st.dictionaries(
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=3).map(".".join),
    st.tuples(actions, st.booleans(), st.integers(0, 1)),
    max_size=60,
).map(
    lambda found: [
        resource(path, action, possible=possible, changes=[change("x", None, value)])
        for path, (action, possible, value) in found.items()
    ]
)


def counted(entries, of=1):
    for entry in entries:
        if entry.shape:
            for _ in range(of * entry.count):
                yield entry.shape.action, entry.shape.certain
        yield from counted(entry.below, of * entry.count)


@given(trees)
def test_nothing_is_lost_and_nothing_is_counted_twice(resources):
    there = sorted((each["action"], each["certainty"] == "certain") for each in resources)
    assert sorted(counted(outline(*resources).entries())) == there


@given(trees, st.randoms())
def test_it_is_the_same_whatever_order_it_comes_in(resources, order):
    def shapes(entries):
        found = [(entry.count, entry.shape, entry.same, shapes(entry.below)) for entry in entries]
        return sorted(found, key=repr)

    mixed = list(resources)
    order.shuffle(mixed)
    assert shapes(outline(*mixed).entries()) == shapes(outline(*resources).entries())


@given(trees)
def test_each_resource_is_found_in_an_entry_that_says_of_it_what_the_plan_says(resources):
    made = outline(*resources)
    entries = made.entries()
    for each in resources:
        entry = made.find(each["path"], entries)
        assert entry is not None
        assert entry.shape is not None
        assert (entry.shape.action, entry.shape.certain) == (each["action"], each["certainty"] == "certain")
        before = "" if each["action"] == "create" else "nothing -> "
        if entry.same:
            assert entry.detail is not None
            assert entry.detail.facts[0].text == f"x: {before}{each['changes'][0]['after']}"
    assert made.find(["nowhere"], entries) is None


def test_what_is_alike_in_nothing_is_cut_and_the_rest_is_counted():
    shuffled = random.Random(1)
    resources = [
        resource(f"r{at}", "create" if at else "delete", changes=[change(f"p{at}", None, "x" * 60)])
        for at in range(10_000)
    ]
    shuffled.shuffle(resources)
    lines = [line.plain for line in plan_text.lines(unchecked_head(resources), outline(*resources))]
    assert len("\n".join(lines).encode()) < 1_000_000
    assert lines[3].startswith("-     r0 ")
    (cut,) = [line for line in lines if line.startswith("... and ")]
    assert cut.endswith("lines more: heatconv plan show 5d0c1c9e-8f2b-4b0e-9a43-6b1f5a7f2c11 --format json")
    assert lines[-1].startswith("9,999 to create, 0 to replace, 0 to update, 1 to delete")
