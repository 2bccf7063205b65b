# SPDX-License-Identifier: Apache-2.0
"""Patterns, queries and groups as somebody would make them up who wants a process to end."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]
HUGE = [
    10**9,
    -1,
    0,
    1,
    3,
    190,
    1000,
    99_999,
    100_000,
    100_001,
    2**31,
    2**63,
    10**18,
    10**40,
    1e9,
    1e308,
    "7",
]
NUMBERS: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(HUGE), st.sampled_from(HUGE).map(str), st.integers(0, 50)
)

# -- regular expressions ---------------------------------------------------------------------------

_ATOMS = st.sampled_from(
    ["a", ".", "..", "[a-z]", "[^:]", r"\w", r"\s", "(?i)", "^", "$", "", "OS::", r"\b", "[a-\uffff]"]
)
_QUANTIFIERS = st.sampled_from(["*", "+", "?", "*?", "+?", "{1000}", "{0,1000000000}", "{1000000000}"])


def _patterns(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, _QUANTIFIERS).map(lambda parts: f"({parts[0]}){parts[1]}"),
        st.tuples(inner, _QUANTIFIERS).map(lambda parts: f"(?:{parts[0]}){parts[1]}"),
        st.lists(inner, min_size=2, max_size=6).map("|".join).map("({})".format),
        st.lists(inner, min_size=2, max_size=6).map("".join),
        st.tuples(inner, st.integers(1, 60)).map(lambda parts: parts[0] * parts[1]),
        inner.map("(?={})".format),
        inner.map("(?!{})".format),
        inner.map(r"({})\1".format),
        inner.map("{}!".format),
    )


PATTERNS = st.recursive(_ATOMS, _patterns, max_leaves=12)

# -- queries ---------------------------------------------------------------------------------------

_VALUES = st.one_of(
    st.sampled_from(["$", "$1", "$2", "$v", "$.data", "$.data.l", "$.data.t", "true", "null", "[]", "{}"]),
    st.sampled_from(["0", "1", "190", "199", "200", "1000000000", "-1", "79999", "0.1"]),
    st.sampled_from(['"a"', '"a" * 9900', '""', '"é"', "range(0, 190)", "range(1000000000)", "sequence()"]),
)
_UNARY = """
    ({0}).len() ({0}).flatten() ({0}).toList() ({0}).distinct() ({0}).reverse() ({0}).sum()
    ({0}).values() ({0}).keys() ({0}).items() ({0}).memorize() ({0}).enumerate() ({0}).trim()
    ({0}).toUpper() ({0}).split() ({0}).first() ({0}).toCharArray() str({0}) set({0}) int({0})
    hex({0}) bool({0}) dict(a=>{0},b=>{0}) [{0},{0}] {{a=>{0},b=>{0}}} [{0}]*190 190*[{0}]
    range({0}) range(0,190).select({0}) range(0,60).aggregate([$1,$1],{0})
    range(0,190).aggregate([$1],{0}) range(0,60).aggregate($1+$1,{0})
    range(0,60).aggregate(dict(a=>$1,b=>$1),{0}) range(0,60).accumulate([$1,$1],{0}) ({0}).cycle()
    range(0,60).aggregate(set($1,{0}),{0}) let(v=>{0})->[$v,$v] generate({0},true,[$,$]) not({0})
    -({0})
"""
_BINARY = """
    ({0})+({1}) ({0})*({1}) ({0})-({1}) ({0})/({1}) ({0})=({1}) ({0})!=({1}) ({0})in({1})
    ({0})<({1}) ({0})=~({1}) ({0}).matches({1}) pow({0},{1}) shiftBitsLeft({0},{1}) concat({0},{1})
    ({0}).join({1}) ({0}).select({1}) ({0}).selectMany({1}) ({0}).where({1}) ({0}).groupBy({1})
    ({0}).orderBy({1}) ({0}).zip({1}) ({0}).toDict({1}) ({0}).repeat({1}) ({0}).take({1})
    ({0}).skip({1}) ({0}).slice({1}) ({0}).aggregate({1}) ({0}).mergeWith({1}) ({0}).insert({1},{0})
    ({0}).split({1}) ({0}).indexOf({1}) ({0}).replace({1},{0}) ({0}).replace(dict({1}=>{0}))
    ({0}).union({1}) ({0}).intersect({1}) ({0}).join({1},true,[$1,$2]) let(v=>{0})->({1})
    def(f,{0})->f({1}) ({0}).concat({1}) ({0}).append({1}) ({0}).substring({1}) ({0}).format({1})
    ({0}).startsWith({1}) ({0}).set({1},{0}) ({0}).sliding({1})
"""


def _queries(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(st.sampled_from(_UNARY.split()), inner).map(lambda parts: parts[0].format(parts[1])),
        st.tuples(st.sampled_from(_BINARY.split()), inner, inner).map(
            lambda parts: parts[0].format(*parts[1:])
        ),
    )


QUERIES = st.recursive(_VALUES, _queries, max_leaves=6)

# -- groups ----------------------------------------------------------------------------------------

_ATTRIBUTES = st.sampled_from(
    [
        ["refs"],
        ["refs_map"],
        ["attributes", "value"],
        ["value"],
        ["resource.0"],
        ["outputs_list", "value"],
        [],
    ]
)
_TYPES = ["OS::Heat::None", "OS::Heat::ResourceGroup", "inner.yaml", "outer.yaml", "OS::Heat::ScaledResource"]
ENVIRONMENT = {"resource_registry": {"OS::Heat::ScaledResource": "inner.yaml"}}


def _leaf() -> st.SearchStrategy[Json]:
    text = st.one_of(st.just("%index%"), st.integers(0, 10_000).map(lambda size: "%index%" + "x" * size))
    value = text.map(lambda given: {"type": "OS::Heat::Value", "properties": {"value": given}})
    return st.one_of(st.sampled_from(_TYPES).map(lambda type_: {"type": type_}), value)


def _groups(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    variable = st.sampled_from(["%index%", "   ", "xxx", "e"])
    removed = st.lists(st.one_of(st.integers(0, 9), st.sampled_from(HUGE)), max_size=3)
    resource_group = st.builds(
        lambda count, member, index, gone: {
            "type": "OS::Heat::ResourceGroup",
            "properties": {
                "count": count,
                "resource_def": member,
                "index_var": index,
                "removal_policies": [{"resource_list": gone}],
            },
        },
        NUMBERS,
        inner,
        variable,
        removed,
    )
    scaled = st.builds(
        lambda member, least, most, wanted: {
            "type": "OS::Heat::AutoScalingGroup",
            "properties": {
                "resource": member,
                "min_size": least,
                "max_size": most,
                **({} if wanted is None else {"desired_capacity": wanted}),
            },
        },
        inner,
        NUMBERS,
        NUMBERS,
        st.one_of(st.none(), NUMBERS),
    )
    chain = st.builds(
        lambda types, times, member: {
            "type": "OS::Heat::ResourceChain",
            "properties": {"resources": types * times, "resource_properties": member.get("properties", {})},
        },
        st.lists(st.sampled_from(_TYPES), min_size=1, max_size=4),
        st.integers(1, 200),
        inner,
    )
    return st.one_of(resource_group, scaled, chain)


GROUPS = st.recursive(_leaf(), _groups, max_leaves=4)


@st.composite
def stacks(draw: st.DrawFn) -> Json:
    """Return what describes a stack of groups, with templates that have more of them inside."""
    resources = {f"G{number}": draw(GROUPS) for number in range(draw(st.integers(1, 3)))}
    outputs = {
        f"o{number}": {"value": {"get_attr": [draw(st.sampled_from(sorted(resources))), *draw(_ATTRIBUTES)]}}
        for number in range(draw(st.integers(0, 3)))
    }
    return {
        "template": _hot(resources, outputs),
        "environment": ENVIRONMENT,
        "files": {
            "inner.yaml": _text({"G": draw(GROUPS)}),
            "outer.yaml": _text({f"R{number}": {"type": "inner.yaml"} for number in range(draw(_SIZES))}),
        },
    }


_SIZES = st.sampled_from([0, 1, 3, 300])


def _hot(resources: Json, outputs: Json) -> Json:
    return {"heat_template_version": "2021-04-16", "resources": resources, "outputs": outputs}


def _text(resources: Json) -> str:
    return json.dumps(_hot(resources, {}))
