# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest
from oslo_config import cfg

from heatconv import errors
from heatconv.openstack import adapter
from heatconv.openstack.types import MODULES, OURS, STAND_FOR
from heatconv.resources.registry import Registry


def test_a_type_is_in_one_module():
    types = [*OURS, *STAND_FOR, *(name for names in MODULES.values() for name in names)]
    assert len(types) == len(set(types))


def test_without_the_plugins_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(adapter, "DISTRIBUTION", "heat-that-nobody-has")
    with pytest.raises(errors.Misconfigured, match=r"pip install 'heatconv\[openstack\]'"):
        adapter.adapt(Registry({}), cfg.ConfigOpts(), "anything")


def test_with_plugins_of_another_series_it_says_what_to_install(monkeypatch):
    class Older:
        version = "12.0.0"

    monkeypatch.setattr(metadata, "distribution", lambda _name: Older)
    with pytest.raises(errors.Misconfigured, match=r"12\.0\.0 is installed"):
        adapter.adapt(Registry({}), cfg.ConfigOpts(), "anything")


def test_nobody_pays_for_a_cloud_who_has_none():
    """What heatconv-all loads at its start has nothing of a cloud."""
    asked = (
        "import sys, heatconv.cmd.all\n"
        "print([name for name in ('heatconv.openstack', 'keystoneauth1', 'openstack', 'heat')"
        " if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert printed == "[]\n"
