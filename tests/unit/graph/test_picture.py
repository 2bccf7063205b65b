# SPDX-License-Identifier: Apache-2.0
"""A picture has few marks however large the graph is, and what needs to be seen is in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heatconv.graph.picture import FEWEST, Kind, Node, members, paint


def node(name, *requires, kind=Kind.DONE, type_name="t"):
    return Node(name=name, type=type_name, kind=kind, requires=requires)


def drawn(picture):
    return {mark.key: len(mark.nodes) for mark in picture.marks}


def test_a_small_graph_is_drawn_as_it_is():
    picture = paint([node("net"), node("a", "net"), node("b", "net", "elsewhere")])
    assert drawn(picture) == {"=net": 1, "=a": 1, "=b": 1}
    assert {(edge.required, edge.by) for edge in picture.edges} == {(0, 1), (0, 2)}
    assert [mark.column for mark in picture.marks] == [0, 1, 1]
    assert sorted(mark.row for mark in picture.marks) == [-0.5, 0, 0.5]


def test_an_empty_graph_is_drawn():
    assert paint([]).marks == []


def test_what_is_alike_is_one_mark():
    many = [node(f"m{each}", "net") for each in range(10_000)]
    picture = paint([node("net", type_name="n"), *many])
    assert drawn(picture) == {"0/done/n": 1, "1/done/t": 10_000}
    assert len(picture.edges) == 1


def test_what_is_broken_or_moving_is_drawn_alone_and_the_broken_first():
    many = [node(f"m{each}") for each in range(FEWEST)]
    moving = [node(f"v{each}", kind=Kind.MOVING) for each in range(FEWEST)]
    broken = [node(f"x{each}", kind=Kind.BROKEN) for each in range(5)]
    found = drawn(paint([*many, *moving, *broken]))
    assert {f"=x{each}" for each in range(5)} <= found.keys()
    assert len([key for key in found if key.startswith("=v")]) == FEWEST // 2 - 5
    assert len(found) <= FEWEST


def test_what_somebody_looks_for_is_drawn_alone():
    many = [node(f"m{each}") for each in range(1000)]
    assert "=m7" in drawn(paint(many, wanted=["m7"]))


def test_a_mark_can_be_opened():
    many = [node(f"m{each}") for each in range(1000)]
    (key,) = drawn(paint(many))
    assert len(members(many, key, most=FEWEST)) == 1000
    assert members(many, "another", most=FEWEST) == ()


@given(
    st.integers(1, 600),
    st.integers(1, 5),
    st.randoms(use_true_random=False),
)
def test_it_never_has_more_marks_than_may_be_and_goes_one_way(number, types, random):
    nodes = [
        node(
            f"n{each}",
            *{f"n{random.randrange(each)}" for _ in range(random.randrange(3)) if each},
            kind=random.choice(list(Kind)),
            type_name=f"t{random.randrange(types)}",
        )
        for each in range(number)
    ]
    picture = paint(nodes, most=FEWEST)
    assert len(picture.marks) <= FEWEST
    assert sum(len(mark.nodes) for mark in picture.marks) == number
    for edge in picture.edges:
        first, then = picture.marks[edge.required], picture.marks[edge.by]
        assert first.column < then.column
        assert len(edge.lanes) == then.column - first.column - 1
    places = [(mark.column, mark.row) for mark in picture.marks]
    assert len(set(places)) == len(places)


def test_a_long_chain_is_cut_into_bands():
    chain = [node("n0"), *(node(f"n{each}", f"n{each - 1}") for each in range(1, 1000))]
    picture = paint(chain)
    assert len(picture.marks) == 12
    assert len(picture.edges) == 11
