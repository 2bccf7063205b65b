# SPDX-License-Identifier: Apache-2.0
"""What daemons of the last release say is understood, and what is new since then says so.

The last release's own code says what it understands.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from heatconv.db.plumbing import migration
from heatconv.rpc import versions
from heatconv.rpc.endpoint import endpoints_of
from heatconv.rpc.engine_client import EngineClient
from tests.functional.servers import last_release

_SAY = """
import inspect, json
from alembic.script import ScriptDirectory
from heatconv.db.plumbing import migration
from heatconv.assembly.worker_service import WorkerService
from heatconv.rpc.endpoint import endpoints_of
from heatconv.rpc.engine_client import EngineClient
try:
    from heatconv.rpc.versions import CURRENT
except ImportError:
    CURRENT = "1.0"

def described(parameters):
    return {each.name: [each.kind.name, repr(each.default)] for each in parameters}

casts = {}
for name in ("check_resource", "give_up", "wake"):
    _self, _context, *parameters = inspect.signature(getattr(WorkerService, name)).parameters.values()
    casts[name] = described(parameters)
calls = {each.name: described(each.parameters.values()) for each in endpoints_of(EngineClient)}
newest = ScriptDirectory.from_config(migration.config()).get_current_head()
print(json.dumps({"version": CURRENT, "calls": calls, "casts": casts, "schema": newest}))
"""


def said_by(path):
    """Return what the code in a directory says that it understands."""
    environment = os.environ | {"PYTHONPATH": str(path)}
    asked = [sys.executable, "-W", "ignore", "-P", "-c", _SAY]
    return json.loads(subprocess.run(asked, env=environment, capture_output=True, check=True).stdout)


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    return (
        said_by(last_release.unpack(tmp_path_factory.mktemp("last-release"))),
        said_by(last_release.ROOT),
    )


def test_what_everybody_understands_is_what_the_last_release_does(releases):
    last, _ours = releases
    assert last["version"] == versions.BASE


@pytest.mark.parametrize("kind", ["calls", "casts"])
def test_what_the_last_release_says_is_understood(releases, kind):
    last, ours = (each[kind] for each in releases)
    for name, parameters in last.items():
        assert {each: ours[name].get(each) for each in parameters} == parameters, name


@pytest.mark.parametrize("kind", ["calls", "casts"])
def test_what_is_new_needs_a_newer_version_and_can_be_left_out(releases, kind):
    last, ours = (each[kind] for each in releases)
    for name, parameters in ours.items():
        if name not in last:
            assert is_newer(kind, name, ""), f"{name} is new: say since when"
            continue
        for each in parameters.keys() - last[name].keys():
            assert is_newer(kind, name, each), f"{each} of {name} is new: say since when"
            assert parameters[each][1] != "<class 'inspect._empty'>", f"{each} of {name} has no default"


def test_what_contracts_comes_behind_all_that_this_release_expands_by(releases):
    last, _ours = releases
    after = migration.revisions()[migration.revisions().index(last["schema"]) + 1 :]

    contracting = [migration.is_contracting(each) for each in after]
    assert contracting == sorted(contracting), "daemons of this release would wait for what is expanded last"


def is_newer(kind, name, parameter):
    """Tell whether something is declared to be there since a version that not everybody understands."""
    declared = {each.name: each.since for each in endpoints_of(EngineClient)}
    since = (
        versions.ADDED.get((name, parameter)) if kind == "casts" else declared[name].get(parameter)
    ) or versions.BASE
    return not versions.has(versions.BASE, since) and versions.has(versions.CURRENT, since)
