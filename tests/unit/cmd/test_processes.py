# SPDX-License-Identifier: Apache-2.0
"""Several processes of one daemon."""

from __future__ import annotations

import signal
import subprocess
import sys

import psutil
import pytest

from heatconv.cmd.processes import Place

#: Each child says who it is, and is not yet where it would listen to signals itself.
EARLY = r"""
import os, signal
from heatconv.cmd.processes import run_processes

def early(number):
    os.write(1, f"{os.getpid()}\n".encode())  # at once: the other says so too
    signal.pause()

run_processes(2, early)
"""

#: The first child cannot start, and the other could go on for ever.
ONE_FAILS = r"""
import logging, os, signal
from heatconv.cmd import processes

def one_fails(number):
    if number == 0:
        raise SystemExit("the port is taken")
    os.write(1, f"{os.getpid()}\n".encode())
    signal.pause()

logging.basicConfig(format="%(message)s", handlers=[logging.StreamHandler(os.fdopen(os.dup(1), "w"))])
processes.FIRST_PAUSE = processes.LONGEST_PAUSE = 3600
processes.run_processes(2, one_fails)
"""


@pytest.fixture
def family():
    """A daemon whose two processes do not listen to signals yet, and these two."""
    with subprocess.Popen([sys.executable, "-c", EARLY], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        children = [psutil.Process(int(parent.stdout.readline())) for _ in range(2)]
        yield parent, children
        parent.kill()
        for child in filter(psutil.Process.is_running, children):
            child.kill()


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_child_that_has_just_begun_ends_with_its_parent(family, signum):
    parent, children = family

    parent.send_signal(signum)

    assert parent.wait(60) == 0
    assert not any(child.is_running() for child in children)


def test_a_child_that_has_just_begun_is_not_ended_by_a_new_configuration(family):
    parent, children = family

    parent.send_signal(signal.SIGHUP)
    children[0].send_signal(signal.SIGHUP)

    _gone, alive = psutil.wait_procs(children, timeout=1)
    assert set(alive) == set(children)
    parent.terminate()
    assert parent.wait(60) == 0


def test_children_that_cannot_start_begin_later_each_time():
    place = Place(0)
    pauses = []
    for _ in range(7):
        place.taken_at = place.free_from
        place.leave(place.taken_at + 9)
        pauses.append(place.free_from - place.taken_at - 9)
    assert pauses == [1, 2, 4, 8, 16, 30, 30]

    place.leave(place.taken_at + 11)  # it had come up

    assert place.free_from == place.taken_at + 11


def test_who_waits_for_a_child_that_cannot_start_attends_to_the_others():
    with subprocess.Popen([sys.executable, "-c", ONE_FAILS], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        read = iter(parent.stdout.readline, "")
        try:
            first = next(line for line in read if "takes its place" in line)
            assert first.endswith("in 3600 s\n")
            [other] = psutil.Process(parent.pid).children()

            other.kill()
            assert next(line for line in read if "takes its place" in line).startswith(f"process {other.pid}")
            parent.terminate()

            assert parent.wait(60) == 0
        finally:
            parent.kill()
