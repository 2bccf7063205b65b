# SPDX-License-Identifier: Apache-2.0
"""What an operator's files say to all templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from heatconv import errors
from heatconv.engine.operator_environment import load

NOTHING: dict[str, dict[str, str]] = {"resource_registry": {}, "parameter_defaults": {}}


def test_a_directory_that_is_not_there_says_nothing(tmp_path):
    assert load(str(tmp_path / "nothing")) == NOTHING
    assert load(str(tmp_path)) == NOTHING


def test_files_are_read_in_the_order_of_their_names(tmp_path):
    (tmp_path / "20-site.yaml").write_text("resource_registry: {A: Y}\nparameter_defaults: {b: 2}")
    (tmp_path / "10-all.yaml").write_text("resource_registry: {A: X, B: X}\nparameter_defaults: {a: 1, b: 1}")
    (tmp_path / ".10-all.yaml.swp").write_bytes(b"\xff\x00")
    (tmp_path / "more").mkdir()
    assert load(str(tmp_path)) == {
        "resource_registry": {"A": "Y", "B": "X"},
        "parameter_defaults": {"a": 1, "b": 2},
    }


def test_what_types_stand_for_comes_before_all_files(tmp_path):
    stand_for = {"A": "X", "B": "X", "C": "X"}
    (tmp_path / "site.yaml").write_text("resource_registry: {A: Y, B: null}")
    said = load(str(tmp_path), stand_for)["resource_registry"]
    assert said == {"A": "Y", "B": None, "C": "X"}
    assert load(str(tmp_path / "nothing"), stand_for)["resource_registry"] == stand_for


def test_what_has_no_effect_is_logged(tmp_path, caplog):
    (tmp_path / "a.yaml").write_text("parameters: {a: 1}\nevent_sinks: [{type: x}]")
    assert load(str(tmp_path)) == NOTHING
    assert "not parameters, event_sinks" in caplog.text


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"parameter: {}", "a.yaml.parameter: There is no section 'parameter'"),
        (b"resource_registry: {T: 1}", "a.yaml.resource_registry.T: It has to be a type"),
        (b"a: [", "cannot be read"),
        (b"\xff\xfe\x00", "cannot be read"),
    ],
)
def test_a_file_that_is_wrong_is_named(tmp_path, content, sentence):
    (tmp_path / "a.yaml").write_bytes(content)
    with pytest.raises(errors.Misconfigured) as caught:
        load(str(tmp_path))
    assert str(tmp_path) in str(caught.value)
    assert sentence in str(caught.value)


def test_the_files_that_come_with_heatconv_can_be_read():
    shipped = Path(__file__).parents[3] / "etc/heatconv/environment.d"
    assert load(str(shipped))["resource_registry"]["OS::Quantum*"] == "OS::Neutron*"
