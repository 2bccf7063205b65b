# SPDX-License-Identifier: Apache-2.0
"""What is made anew has another id than what it replaces, if a service makes the ids up."""

from __future__ import annotations

import uuid
from types import SimpleNamespace
from typing import Any

import pytest

from heatconv.model.definition import Definition
from heatconv.model.records import ResourceRow
from heatconv.model.unknown import Hang, Unknown, may_be
from heatconv.plans import outputs
from heatconv.resources.reading import Reading

ROW, OLD, LINKED = (str(uuid.uuid4()) for _ in range(3))


def is_other(reference_id: str, physical_id: str, properties: Any) -> bool:
    """Tell whether it is certain that what replaces something has another reference id."""

    def parse_properties(_definition: Definition, lenient: bool) -> Any:
        assert lenient
        if isinstance(properties, Exception):
            raise properties
        return properties

    wanted = Definition(name="it", type="T")
    before = ResourceRow(
        id=ROW,
        stack_id="stack",
        name="it",
        type="T",
        version=1,
        applied=wanted,
        physical_id=physical_id,
        reference_id=reference_id,
    )
    plugin: Any = SimpleNamespace(definition=wanted, parse_properties=parse_properties)
    given = outputs.made(before, ("it",), wanted, (), plugin, before=before)
    return not may_be(given.reference_id, reference_id)


def test_an_id_that_a_service_made_up_is_never_made_up_again():
    assert is_other(OLD, OLD, {"network": LINKED})


@pytest.mark.parametrize(
    ("reference_id", "physical_id", "properties"),
    [
        pytest.param("name", OLD, {}, id="it goes by something else"),
        pytest.param("name", "name", {}, id="a user gave it"),
        pytest.param(ROW, ROW, {}, id="it is that of the row"),
        pytest.param(LINKED, LINKED, {"volume": LINKED}, id="it is that of something else"),
        pytest.param(LINKED, LINKED, {"volume": Unknown([Hang(("other",))])}, id="it may be that"),
        pytest.param(OLD, OLD, ValueError("unknown"), id="nobody knows"),
    ],
)
def test_any_other_id_may_stay(reference_id: str, physical_id: str, properties: Any):
    assert not is_other(reference_id, physical_id, properties)


def test_what_is_linked_to_is_another_one_if_that_is_certain():
    assert is_other(LINKED, LINKED, {"volume": Unknown([Hang(("other",))], [LINKED])})


class Linking:
    """A plugin that goes by the id of what it links to."""

    get_reference_id = Reading.get_reference_id

    def FnGetRefId(self) -> str:  # noqa: N802 - the contract's name
        return LINKED


@pytest.mark.parametrize(
    ("volume", "stays"),
    [(LINKED, True), (OLD, False), (Unknown(), False)],
    ids=["the same", "another", "unknown"],  # or each process would have names of its own
)
def test_what_links_to_another_thing_by_an_update_goes_by_that(volume: Any, stays: bool):
    made = Definition(name="it", type="T", properties={"volume": LINKED})
    row = ResourceRow(
        id=ROW, stack_id="stack", name="it", type="T", version=1, applied=made, physical_id=LINKED
    )
    plugin: Any = Linking()
    wanted = made.changed(properties={"volume": volume})
    given = outputs.changed(row, ("it",), wanted, (), plugin)
    assert isinstance(given.reference_id, Unknown) is not stays
