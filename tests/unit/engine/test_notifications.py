# SPDX-License-Identifier: Apache-2.0
"""What is heard, by whom it is read, and how long it waits."""

from __future__ import annotations

import logging

import pytest

from heatconv.observer import notifications
from heatconv.observer.notifications import Notifications
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource


class Volume(Resource):
    notifications = ("volume.delete.end", "volume.attach.*")

    @classmethod
    def notified(cls, event_type, payload):
        return [payload["volume_id"]]


class Server(Resource):
    notifications = ("compute.*",)

    @classmethod
    def notified(cls, event_type, payload):
        return payload["ids"]


class World:
    """Ears, and a look that notes what is looked at."""

    def __init__(self, *, most=100):
        self.now = 0.0
        self.looked = []
        self.again = set()
        self.problem = None
        registry = Registry({"Volume": Volume, "Disk": Volume, "Server": Server, "Other": Resource})
        self.it = Notifications(self.look_at, registry, most=most, clock=lambda: self.now)

    def look_at(self, physical_ids, *, project_id):
        self.looked.append((sorted(physical_ids), project_id))
        if self.problem:
            raise self.problem
        return self.again & set(physical_ids)

    def look(self):
        self.looked.clear()
        self.it.look()
        return self.looked


@pytest.fixture
def world():
    return World()


def test_what_came_together_is_looked_at_together(world):
    world.it.hear("volume.delete.end", {"volume_id": "v1"})
    world.it.hear("volume.attach.begin.now", {"volume_id": "v2"})
    world.it.hear("volume.delete.end", {"volume_id": "v1"})
    world.it.hear("compute.instance.delete.end", {"ids": iter(["s1", "s2"])})

    assert world.look() == [(["s1", "s2", "v1", "v2"], None)]
    assert world.look() == []


@pytest.mark.parametrize("event_type", ["volume.create.end", "volume.delete", "volume", "port.delete.end"])
def test_what_nobody_reads_is_not_read(world, event_type):
    world.it.hear(event_type, {"volume_id": "v1"})

    assert world.look() == []


@pytest.mark.parametrize(
    ("event_type", "payload"),
    [
        (None, {}),
        (["volume.delete.end"], {}),
        ("volume." * 100_000, {}),
        ("volume.delete.end", None),
        ("volume.delete.end", {}),
        ("volume.delete.end", {"volume_id": None}),
        ("volume.delete.end", {"volume_id": ""}),
        ("volume.delete.end", {"volume_id": "v" * 256}),
        ("volume.delete.end", {"volume_id": {"of": "what"}}),
        ("compute.instance.delete.end", {"ids": "not several"}),
        ("compute.instance.delete.end", {"ids": 3}),
    ],
)
def test_what_cannot_be_read_is_dropped(world, event_type, payload):
    world.it.hear(event_type, payload)

    assert world.look() == []


def test_of_what_cannot_be_read_the_log_tells_and_no_value(world, caplog):
    with caplog.at_level(logging.WARNING):
        world.it.hear("volume.delete.end", {"secret": "hunter2"})

    assert "notification volume.delete.end is dropped: Volume cannot read it (KeyError)" in caplog.text
    assert "hunter2" not in caplog.text


def test_what_does_not_fit_in_is_dropped_and_told_of_once(caplog):
    world = World(most=3)
    with caplog.at_level(logging.WARNING):
        assert world.it.take_up(["a", "b"], project_id="p") == 2
        assert world.it.take_up(["a", "c", "d", "e"]) == 1
        assert world.it.take_up(["a", "b"], project_id="p") == 2
        looked = world.look()

    assert sum(len(each) for each, _ in looked) == 3
    assert [record.getMessage() for record in caplog.records] == [
        "3 things are not looked at before their stacks are: too many wait"
    ]
    assert world.it.take_up(["d"]) == 1


def test_many_are_looked_at_in_portions(monkeypatch):
    monkeypatch.setattr(notifications, "MANY", 4)
    world = World()
    world.it.take_up(map(str, range(10)))

    assert sorted(len(each) for each, _ in world.look()) == [2, 4, 4]


def test_things_of_projects_are_looked_for_there(world):
    world.it.take_up(["a"], project_id="p")
    world.it.take_up(["a"])

    assert sorted(world.look(), key=str) == [(["a"], "p"), (["a"], None)]


def test_what_is_to_be_looked_at_again_is_later_and_later_and_not_for_ever(world):
    world.again = {"a"}
    world.it.take_up(["a", "b"])
    looks = []
    while world.now < 1000:
        if world.look():
            looks.append(world.now)
        world.now += 1

    assert looks == [0, 1, 3, 7, 15, 31, 63, 127]


def test_what_happens_anew_is_looked_at_at_once(world):
    world.again = {"a"}
    world.it.take_up(["a"])
    for _ in range(5):
        world.look()
        world.now += 100
    world.look()
    assert world.look() == []

    world.it.take_up(["a"])

    assert world.look() == [(["a"], None)]


def test_what_was_not_looked_at_for_an_error_is_kept(world):
    world.problem = RuntimeError("the database is away")
    world.it.take_up(["a"])
    with pytest.raises(RuntimeError):
        world.look()
    world.problem = None
    assert world.look() == []

    world.now += 1

    assert world.look() == [(["a"], None)]
