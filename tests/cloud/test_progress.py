# SPDX-License-Identifier: Apache-2.0
"""What Heat's plugins keep of an action under way is saved, and made again as it was."""

from __future__ import annotations

import importlib
import json

import pytest

from heatconv.model import tokens
from heatconv.openstack import finder, progress


@pytest.fixture(scope="module")
def heats():
    """Return Heat's module of progress."""
    finder.install()
    return importlib.import_module(progress.MODULE)


def through_the_database(token):
    """Return a token as whoever takes an action over gets it."""
    return tokens.decoded(json.loads(json.dumps(tokens.encoded(tokens.copied(token)))))


def same(one, other):
    """Tell whether two parts of tokens are alike, objects by their class and attributes."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if type(one).__module__ == progress.MODULE:
        return same(vars(one), vars(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def test_each_class_of_progress_comes_back_as_it_was(heats):
    resize = heats.ServerUpdateProgress(
        "server", "resize", handler_extra={"args": ("flavor",), "kwargs": {"class": None, "keys": {"a": [1]}}}
    )
    made = [
        resize,
        heats.ServerCreateProgress("server"),
        heats.ServerDeleteProgress("server", "image", False),
        heats.ContainerUpdateProgress("container", "start_container"),
        heats.VolumeDetachProgress("server", "volume", "attachment"),
        heats.VolumeAttachProgress("server", "volume", "/dev/vdb"),
        heats.VolumeDeleteProgress(),
        heats.VolumeResizeProgress(size=2),
        heats.VolumeUpdateAccessModeProgress(read_only=True),
        heats.VolumeBackupRestoreProgress("volume", "backup"),
        heats.PoolDeleteProgress(),
    ]
    classes = {name for name, each in vars(heats).items() if isinstance(each, type)}
    assert {type(each).__name__ for each in made} == classes - {"UpdateProgressBase"}
    for token in (*made, made, tuple(made), {"one": resize, "none": None}):
        assert same(progress.restored(through_the_database(progress.saved(token))), token)


@pytest.mark.parametrize("token", [None, "volume", ["a", ("b",)], {"class": "b"}, {"progress": 1, "more": 2}])
def test_a_token_without_progress_stays_itself(heats, token):
    assert progress.saved(token) is token
    assert progress.restored(token) is token
