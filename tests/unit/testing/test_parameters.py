# SPDX-License-Identifier: Apache-2.0
"""What a template with parameters comes to is what somebody would write who knew their values."""

from __future__ import annotations

from heatconv.testing.parameters import as_given
from heatconv.testing.templates import OFF, ON, Chosen, Param, Parameter, Template, When, attr, thing
from heatconv.testing.trees import GIVEN, Nested, chain, group, nested, source

TAKING = Template(
    A=thing(Param("word"), flavor=Chosen("switch", "large", "small")),
    N=nested(Template(P=thing(GIVEN)), Param("word")),
    G=group(2, thing(Chosen("switch", attr("A"), "off"))),
    W=When("switch", thing("w")),
    C=chain(2, thing("c")),
)


def given(switch):
    return TAKING.given({"word": Parameter("hush", hidden=True), "switch": Parameter(switch)})


def test_values_and_conditions_come_to_what_the_parameters_say():
    on, off = as_given(given(ON)), as_given(given(OFF))

    assert on["A"] == thing("hush", flavor="large")
    assert off["A"] == thing("hush")
    assert isinstance(on["N"], Nested)
    assert on["N"].value == "hush"
    assert on["G"] == group(2, thing(attr("A")))
    assert off["G"] == group(2, thing("off"))
    assert (on.get("W"), off.get("W")) == (thing("w"), None)
    assert on["C"] == chain(2, thing("c"))


def test_what_is_posted_declares_the_parameters_and_gives_their_values():
    posted = source(given(ON))

    assert posted["template"]["parameters"]["word"] == {"type": "string", "hidden": True}
    assert posted["template"]["conditions"]["switch"] == {"equals": [{"get_param": "switch"}, "on"]}
    assert posted["template"]["resources"]["W"]["condition"] == "switch"
    assert posted["environment"] == {"parameters": {"word": "hush", "switch": "on"}}
    assert "environment" not in source(TAKING)


def test_parameters_stay_when_something_else_is_changed():
    assert given(ON).but(X=thing("x")).without("A").parameters == given(ON).parameters
