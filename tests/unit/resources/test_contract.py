# SPDX-License-Identifier: Apache-2.0
"""What the author of a plugin sees is what Heat has, and what our pages on plugins have beside it."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from heatconv.resources.resource import Resource

DOC = Path(__file__).parents[3] / "doc" / "source"

#: What Heat's base of all plugins has as well, though hardly any of its own plugins uses it.
RARE = {
    "base_attributes_schema",
    "cinder",
    "clear_stored_attributes",
    "created_time",
    "has_interface",
    "is_service_available",
    "nova",
    "required_by",
    "status_reason",
    "swift",
    "trove",
    "updated_time",
}


def of_heat():
    names = yaml.safe_load((DOC / "reference" / "heat-27.yaml").read_text())
    return {*names["plugin hooks"], *names["plugin helpers"]} | RARE


def documented():
    pages = (DOC / "howto").glob("*-a-plugin.rst")
    return {word for page in pages for word in re.findall(r"\w+", page.read_text())}


def is_of_an_action(name):
    """Tell whether a name is a state, or that of a hook which has an action in it."""
    return name.isupper() or name.startswith(("handle_", "check_"))


def test_nothing_else_is_public():
    public = {name for name in dir(Resource) if not name.startswith("_") and not is_of_an_action(name)}
    assert public - of_heat() - documented() == set()
