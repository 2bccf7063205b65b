# SPDX-License-Identifier: Apache-2.0
"""Several processes of one daemon."""

from __future__ import annotations

import signal
import subprocess
import sys

import psutil
import pytest

#: Each child says who it is, and is not yet where it would listen to signals itself.
EARLY = r"""
import os, signal, time
from heatconv.cmd.processes import run_processes

def early(number):
    os.write(1, f"{os.getpid()}\n".encode())  # at once: the other says so too
    time.sleep(600)

run_processes(2, early)
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
