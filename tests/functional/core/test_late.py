# SPDX-License-Identifier: Apache-2.0
"""A worker dies in a create that its service carries out later: there is one in the end, or none."""

from __future__ import annotations

import pytest

from heatconv.model.states import DeletionPolicy
from heatconv.resources import exception
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource
from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.simulated import PLUGIN_DIR
from heatconv.testing.templates import SERVER, Template, thing
from tests.chaos.mortal import Death

TYPE = "Test::Late"


class Late(Resource):
    """Of a server: its first create kills who asks for it, and is carried out some looks later."""

    comes_late = True
    looks = 0  #: how often somebody looks for it until it is there
    tried = 0
    refuses = False  #: a second one of the same name
    robbed: str | None = None  #: the id of one that lacks what another has taken along
    stranded: str | None = None  #: the id of one that is never complete

    def handle_create(self):
        Late.tried += 1
        if Late.tried == 1:
            raise Death
        if self.refuses:
            self._carry_out()
            raise Refused("it is there already")
        return super().handle_create()

    def find_all(self):
        Late.looks -= 1
        if Late.looks == 0:
            self._carry_out()
        return sorted(each["id"] for each in IN_PROCESS.find(str(self.physical_resource_name())))

    def find_existing(self):
        return next(iter(self.find_all()), None)

    def is_intact(self):
        return self.resource_id != Late.robbed

    def check_create_complete(self, token):
        return self.resource_id != Late.stranded and super().check_create_complete(token)

    def is_stranded(self):
        return self.resource_id == Late.stranded

    def _carry_out(self):
        wanted = {key: self.properties[key] for key in ("value", "flavor", "uses")}
        owner = f"{self.stack.name}/{self.name}"
        IN_PROCESS.create(str(self.physical_resource_name()), self.type(), owner, wanted)


class Refused(exception.Error):
    """A conflict."""

    status_code = 400


@pytest.fixture(scope="module")
def registry():
    made = Registry.load([PLUGIN_DIR])
    made.promise({TYPE: lambda: type("Server", (Late, made.get(SERVER)), {})})
    return made


@pytest.fixture(autouse=True)
def first(monkeypatch):
    """Let the next create be the first, which takes no look at all unless a test says so."""
    for name, value in {"tried": 0, "looks": 0, "refuses": False, "robbed": None, "stranded": None}.items():
        monkeypatch.setattr(Late, name, value)


def die_in_a_create(world, engines, **properties):
    """Let a worker die in a create; another one is there then."""
    template = Template(A=thing("a", type=TYPE, **properties))
    world.create(template)
    with pytest.raises(Death):
        world.check("A+")
    world.worker.die()
    world.worker = world.new_worker()
    world.bell.take()
    return template


@pytest.mark.parametrize("looks", range(1, 8))
def test_a_deletion_finds_what_comes_after_it_has_looked(world, engines, looks):
    die_in_a_create(world, engines)
    world.delete()
    Late.looks = looks
    world.run()
    engines[0].tick()
    world.run()
    assert world.state == "DELETE_COMPLETE"
    assert "create A" in world.calls()
    assert world.cloud.owned() == []


def test_a_deletion_finds_two(world, engines):
    die_in_a_create(world, engines, wait=3)
    engines[0].tick()
    world.check("A+")
    Late.looks = 1
    world.delete()
    world.run()
    assert world.state == "DELETE_COMPLETE"
    assert world.calls().count("create A") == 2
    assert world.cloud.owned() == []


def test_a_deletion_leaves_what_is_to_stay(world, engines):
    die_in_a_create(world, engines, policy=DeletionPolicy.RETAIN)
    world.delete()
    Late.looks = 1
    world.run()
    engines[0].tick()
    world.run()
    assert world.state == "DELETE_COMPLETE"
    assert len(world.cloud.owned()) == 1


@pytest.mark.parametrize("looks", [1, 2])
def test_what_comes_beside_what_was_made_in_its_place_is_removed(world, engines, looks):
    template = die_in_a_create(world, engines)
    Late.looks = looks
    engines[0].tick()
    world.run()
    assert world.state == "CREATE_COMPLETE"
    assert world.differences(template) == []


def test_what_another_has_taken_something_from_is_made_anew(world, engines):
    template = die_in_a_create(world, engines, wait=3)
    engines[0].tick()
    world.check("A+")
    Late.robbed = robbed = world.row("A").physical_id
    Late.looks = 1
    world.run()
    assert world.state == "CREATE_COMPLETE"
    assert world.differences(template) == []
    assert world.row("A").physical_id not in (None, robbed)


def test_what_its_service_has_lost_sight_of_is_made_anew(world, engines):
    template = die_in_a_create(world, engines, wait=3)
    engines[0].tick()
    world.check("A+")
    Late.stranded = stranded = world.row("A").physical_id
    world.run()
    assert world.state == "CREATE_COMPLETE"
    assert world.differences(template) == []
    assert world.row("A").physical_id not in (None, stranded)


def test_what_stands_in_the_way_of_a_create_is_what_the_one_before_made(world, engines):
    template = die_in_a_create(world, engines)
    Late.refuses = True
    engines[0].tick()
    world.run()
    assert world.state == "CREATE_COMPLETE"
    assert world.differences(template) == []
