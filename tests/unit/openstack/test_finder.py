# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

import heatconv
from heatconv.openstack import finder
from heatconv.openstack.types import BELOW, MODULES
from heatconv.resources import properties

HERE = Path(heatconv.__file__).parents[1]


@pytest.mark.parametrize(
    "name",
    [
        "heat.db",
        "heat.db.api",
        "heat.objects.stack",
        "heat.policies",
        "heat.engine.service",
        "heat.engine.stack",
        "heat.engine.worker",
        "heat.engine.parser",
        "heat.engine.resources.openstack.heat.software_deployment",
        "heat.engine.resources.openstack.new.thing",
    ],
)
def test_the_rest_of_heat_is_refused(name):
    with pytest.raises(finder.Refused, match="not loaded here"):
        finder.Finder().find_spec(name, None)


def test_others_are_none_of_its_business():
    assert finder.Finder().find_spec("heatconv", None) is None
    assert finder.Finder().find_spec("heater", None) is None


@pytest.mark.parametrize("ours", sorted(set(finder.OURS.values())))
def test_what_stands_in_for_heat_is_there(ours):
    assert (HERE / ours.replace(".", "/")).with_suffix(".py").is_file()


def test_no_module_is_named_in_two_ways():
    assert not finder.OURS.keys() & (finder.PURE | finder.HOLLOW)
    assert not finder.PURE & finder.HOLLOW
    assert not [name for name in finder.PURE if name.startswith(finder.SERVICES)]


def test_each_module_with_types_may_be_imported():
    named = {f"{BELOW}{each}" for each in MODULES} - finder.PURE
    assert [each for each in named if not each.startswith(finder.SERVICES)] == []


def test_ours_is_the_module_that_is_imported(monkeypatch):
    """Not a copy: a class that two modules import is one class."""
    name = "heat.engine.properties"
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    finder.Finder().exec_module(module)

    assert sys.modules[name] is properties
