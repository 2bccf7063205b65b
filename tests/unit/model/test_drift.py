# SPDX-License-Identifier: Apache-2.0
"""What a policy means for a resource."""

from __future__ import annotations

import pytest

from heatconv.model.definition import Definition
from heatconv.model.drift import Finding, Kind, Mode, Policy, mode_of
from heatconv.model.records import ResourceRow
from heatconv.model.states import DeletionPolicy


def row(metadata=None, **definition):
    applied = Definition(name="a", type="T", **definition)
    return ResourceRow(
        id="1", stack_id="s", name="a", type="T", version=0, applied=applied, metadata=metadata or {}
    )


@pytest.mark.parametrize("mode", list(Mode))
def test_a_resource_goes_by_the_policy_of_its_stack(mode):
    assert mode_of(row(), mode) is mode


@pytest.mark.parametrize(
    ("said", "of_stack", "expected"),
    [
        ({"policy": "off"}, Mode.HEAL, Mode.OFF),
        ({"policy": "heal"}, Mode.DETECT, Mode.HEAL),
        ({"policy": "heal"}, Mode.OFF, Mode.OFF),
        ({"policy": "whatever"}, Mode.DETECT, Mode.DETECT),
        ("heal", Mode.DETECT, Mode.DETECT),
        (None, Mode.HEAL, Mode.HEAL),
    ],
)
def test_its_metadata_may_say_otherwise(said, of_stack, expected):
    assert mode_of(row({"convergence": said}), of_stack) is expected


@pytest.mark.parametrize("kept", [{"external_id": "x"}, {"deletion_policy": DeletionPolicy.RETAIN}])
def test_what_is_not_to_be_replaced_is_only_looked_at(kept):
    assert mode_of(row(**kept), Mode.HEAL) is Mode.DETECT
    assert mode_of(row(**kept), Mode.OFF) is Mode.OFF


def test_a_policy_is_what_was_said_of_it():
    assert Policy.from_json(None) == Policy.from_json({}) == Policy()
    assert Policy.from_json({"policy": "heal", "interval": 5}) == Policy(mode=Mode.HEAL, interval=5)


def test_findings_that_say_the_same_are_told_by_their_digests():
    found = Finding(row=row(), kind=Kind.CHANGED, differences={"a": 1}, reason="because")
    again = Finding(row=row({"more": 1}), kind=Kind.CHANGED, differences={"a": 1}, reason="because")
    other = Finding(row=row(), kind=Kind.CHANGED, differences={"a": 2}, reason="because")
    assert found.digest == again.digest != other.digest
