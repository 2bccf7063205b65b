# SPDX-License-Identifier: Apache-2.0
"""Every scenario under several schedules; ``HEATCONV_SCHEDULES`` says under how many."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from heatconv.resources.registry import Registry
from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.scenario import load
from heatconv.testing.simulated import PLUGIN_DIR, SimulatedWorld
from heatconv.testing.simulator import Mishaps

SCENARIOS = load(Path(__file__).parents[2] / "scenarios")
SCHEDULES = int(os.environ.get("HEATCONV_SCHEDULES", "1"))


@pytest.fixture(scope="module")
def registry():
    return Registry.load([PLUGIN_DIR])


def play(registry, name, start, mishaps):
    # The name goes in as well, so that one start does not mean the same choices everywhere.
    world = SimulatedWorld(registry, random.Random(f"{name} {start}"), mishaps)
    try:
        SCENARIOS[name](world)
    except Exception as error:
        error.add_note(f"{name}, schedule {start}:\n" + "\n".join(world.simulator.history[-40:]))
        raise
    finally:
        world.close()


MISHAPS = {
    "smooth": Mishaps(),
    "rough": Mishaps(drop=0.1, double=0.2, crash=0.05),
}


@pytest.mark.parametrize("start", range(SCHEDULES))
@pytest.mark.parametrize("mishaps", MISHAPS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(registry, monkeypatch, name, mishaps, start):
    monkeypatch.setenv("HEATCONV_FAKE_CLOUD", "memory:")
    play(registry, name, start, MISHAPS[mishaps])


def test_a_schedule_can_be_played_again(registry, monkeypatch):
    monkeypatch.setenv("HEATCONV_FAKE_CLOUD", "memory:")
    logs = []
    for start in (1, 1, 2):
        play(registry, "wide", start, MISHAPS["rough"])
        logs.append([(entry.op, entry.owner, entry.result) for entry in IN_PROCESS.audit()])
    assert logs[0] == logs[1] != logs[2]
