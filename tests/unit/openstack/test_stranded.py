# SPDX-License-Identifier: Apache-2.0
"""A server is stranded if it was taken down long ago, and nobody looks for a host for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from heatconv.openstack.mended.server import STRANDED, Server


class Plain(Server):
    """A server of which Nova says something."""

    def __init__(self, said):
        self._said = said
        self._id = "server"

    @property
    def resource_id(self):
        return self._id

    def _server(self, _server_id):
        return self._said


def said(status, task_state, seconds):
    created = datetime.now(UTC) - timedelta(seconds=seconds)
    stated = {"status": status, "created": created.strftime("%Y-%m-%dT%H:%M:%SZ")}
    return SimpleNamespace(**stated, **{"OS-EXT-STS:task_state": task_state})


@pytest.mark.parametrize("task_state", [None, "scheduling"])
def test_it_waits_for_a_host_and_nobody_looks_for_one(task_state):
    assert Plain(said("BUILD", task_state, STRANDED + 2)).is_stranded()
    assert not Plain(said("BUILD", task_state, STRANDED - 2)).is_stranded()


@pytest.mark.parametrize(("status", "task_state"), [("BUILD", "spawning"), ("ACTIVE", None), ("ERROR", None)])
def test_what_is_on_its_way_or_at_its_end_is_not(status, task_state):
    assert not Plain(said(status, task_state, STRANDED + 2)).is_stranded()


def test_what_is_not_there_is_not():
    assert not Plain(None).is_stranded()
