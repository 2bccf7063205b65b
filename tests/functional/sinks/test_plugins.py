# SPDX-License-Identifier: Apache-2.0
"""Types of sinks that others bring: as Heat's plugins, by an entry point."""

from __future__ import annotations

import importlib
import sys

import pytest

from heatconv import errors
from heatconv.sinks import types
from heatconv.testing.templates import Template, thing

ONE = Template(A=thing("a"))
MODULE = """\
TAKEN = []


class Recorder:
    def __init__(self, target, fails=False, ttl=None):
        if ttl == "none":
            raise ValueError(f"{target} needs a ttl")
        self.target = target

    def consume(self, context, event):
        payload = event["payload"]
        if len(TAKEN) == 2 and not FIXED:
            raise RuntimeError(f"{self.target} is out of paper")
        said = f"{payload['resource_name']} {payload['resource_action']}_{payload['resource_status']}"
        TAKEN.append((self.target, context.project_id, said))


FIXED = []
"""


@pytest.fixture
def recorder(tmp_path, monkeypatch):
    """Install a plugin, and return its module."""
    (tmp_path / "sink_recorder.py").write_text(MODULE)
    information = tmp_path / "sink_recorder-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: sink-recorder\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[heat.event_sinks]\nrecorder = sink_recorder:Recorder\nbroken = sink_recorder:Nothing\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    types._installed.cache_clear()
    yield importlib.import_module("sink_recorder")
    types._installed.cache_clear()
    del sys.modules["sink_recorder"]


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_a_plugin_gets_every_event_of_its_stack(world, recorder, caplog):
    world.create_with(ONE, [{"type": "recorder", "target": "a secret place"}])
    world.run()
    world.deliver()
    assert len(recorder.TAKEN) == 2
    assert "out of paper" in caplog.text
    assert "a secret place" not in caplog.text

    recorder.FIXED.append(True)
    world.time_passes()
    world.deliver()
    assert [said for _, _, said in recorder.TAKEN] == world.events()
    assert {(target, project) for target, project, _ in recorder.TAKEN} == {("a secret place", "tests")}


@pytest.mark.parametrize(
    ("sink", "path", "complaint"),
    [
        ({"type": "recorder"}, "event_sinks[0]", "cannot be made: TypeError.*target"),
        ({"type": "recorder", "target": "password1", "ttl": "none"}, "event_sinks[0]", r"\*{6} needs a ttl"),
        ({"type": "broken"}, "event_sinks[0]", "cannot be made: AttributeError"),
    ],
)
def test_what_a_plugin_does_not_like_is_told(recorder, sink, path, complaint):
    with pytest.raises(errors.Invalid, match=complaint) as refused:
        types.SinkTypes().check({"event_sinks": [sink]})

    assert [where for where, _ in refused.value.problems] == [path]
