# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from heatconv.template import functions_of, versions

EXPECTED: dict[str, dict[str, str]] = yaml.safe_load(
    Path(__file__).with_name("functions_by_version.yaml").read_text()
)
NAMES = [version.full_names[0] for version in versions()]


def words(version: str, key: str) -> set[str]:
    return set(EXPECTED[version].get(key, "").split())


def expected_functions() -> dict[str, set[str]]:
    result: dict[str, set[str]] = {}
    before: set[str] = set()
    for version in EXPECTED:
        start = before if version.startswith("heat_template_version.") else set()
        before = result[version] = (start | words(version, "adds")) - words(version, "removes")
    return result


def names(version: str, **options: Any) -> set[str]:
    return {name for name, _line in functions_of(version, **options)}


def test_every_version_is_there_with_its_alias():
    expected = {version: said.get("alias") for version, said in EXPECTED.items()}
    assert expected.keys() == set(NAMES)
    for version in versions():
        name, *aliases = version.full_names
        alias = expected[name]
        assert aliases == ([f"heat_template_version.{alias}"] if alias else [])
        for other in aliases:
            assert functions_of(other) == functions_of(name)


def test_each_version_has_just_its_own_functions():
    assert {version: names(version) for version in NAMES} == expected_functions()


def test_conditions_are_listed_on_demand():
    for version in NAMES:
        assert names(version, with_conditions=True) == names(version) | words(version, "conditions")
    assert "equals" not in names("heat_template_version.rocky")  # asking for them changes nothing for others


@pytest.mark.parametrize("version", versions(), ids=NAMES)
def test_conditions_use_their_own_functions_only(version):
    listed = {name for name, entry in version.condition_functions.items() if getattr(entry, "listed", True)}
    assert listed == words(version.full_names[0], "conditions")
    assert version.has_conditions is bool(listed)


def test_languages_are_told_apart():
    languages = {version.key: version.language for version in versions()}
    assert languages == {
        "heat_template_version": "hot",
        "AWSTemplateFormatVersion": "cfn",
        "HeatTemplateFormatVersion": "cfn",
    }


def test_every_function_has_a_line_about_it():
    for version in NAMES:
        for name, line in functions_of(version, with_conditions=True):
            assert line.endswith("."), name
            assert "\n" not in line, name


@pytest.mark.parametrize("version", ["heat_template_version.2012-01-01", "2018-08-31", "nothing", ""])
def test_an_unknown_version_has_no_functions(version):
    with pytest.raises(KeyError):
        functions_of(version)
