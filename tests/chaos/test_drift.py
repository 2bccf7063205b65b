# SPDX-License-Identifier: Apache-2.0
"""The log of what drifts: it excuses what was done to the world, and nothing else."""

from __future__ import annotations

import random
from contextlib import contextmanager
from threading import Thread

import pytest

from heatconv.model.drift import DriftStatus, Kind, Mode
from heatconv.testing.cloud import Cloud
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.cloud_server import CloudServer
from heatconv.testing.templates import SERVER, Template, thing
from tests.chaos.drift import Drift, Drifts, without
from tests.chaos.oracle import in_the_cloud, touched

KINDS = (Kind.MISSING, Kind.CHANGED, Kind.ERROR)
WANTED = {"s": Template(A=thing("a"), B=thing("b", uses=["A"]))}


@pytest.fixture
def cloud():
    """Return a cloud with the wanted objects of the stack s."""
    made = Cloud()
    first = made.create("a", SERVER, "s/A", {"value": "a", "flavor": "small", "uses": []})
    made.create("b", SERVER, "s/B", {"value": "b", "flavor": "small", "uses": [first["id"]]})
    return made


def ids(cloud):
    return {found["owner"]: found["id"] for found in cloud.owned()}


def drift(cloud, owner, kind, **altered):
    """Do something to an object; return that."""
    (found,) = [found for found in cloud.owned() if found["owner"] == owner]
    match kind:
        case Kind.MISSING:
            cloud.vanish(found["id"])
        case Kind.CHANGED:
            cloud.meddle(found["id"], altered)
        case Kind.ERROR:
            cloud.spoil(found["id"])
    return Drift(stack="s", kind=kind, found=found, altered=altered)


def log(done, policy=Mode.DETECT):
    drifts = Drifts(CloudControl("http://127.0.0.1:9"), {"s": policy})
    drifts.log.append(done)
    return drifts


def problems(cloud, left):
    return list(in_the_cloud(WANTED, without(cloud.owned(), left)))


EVERY = pytest.mark.parametrize(
    ("kind", "altered"),
    [(Kind.MISSING, {}), (Kind.CHANGED, {"flavor": "altered"}), (Kind.ERROR, {})],
)


@EVERY
def test_what_drifted_and_is_so_still_is_excused(cloud, kind, altered):
    stood_for = set(ids(cloud).values())
    done = drift(cloud, "s/A", kind, **altered)
    left = log(done).left(cloud.owned(), stood_for)

    assert left == [done]
    assert problems(cloud, []) != []
    assert problems(cloud, left) == []


@EVERY
def test_in_a_stack_that_is_healed_nothing_is_excused(cloud, kind, altered):
    stood_for = set(ids(cloud).values())
    done = drift(cloud, "s/A", kind, **altered)

    assert log(done, Mode.HEAL).left(cloud.owned(), stood_for) == []


@EVERY
def test_only_the_object_that_drifted_is_excused(cloud, kind, altered):
    stood_for = set(ids(cloud).values())
    left = log(drift(cloud, "s/A", kind, **altered)).left(cloud.owned(), stood_for)
    cloud.vanish(ids(cloud)["s/B"])

    assert problems(cloud, left) == ["s: B exists 0 times, wanted 1"]


def test_an_object_of_which_no_resource_knows_any_more_is_excused_no_more(cloud):
    done = drift(cloud, "s/B", Kind.MISSING)

    assert log(done).left(cloud.owned(), set(ids(cloud).values())) == []


def test_what_was_altered_and_is_as_it_was_made_again_is_left_no_more(cloud):
    done = drift(cloud, "s/A", Kind.CHANGED, flavor="altered")
    cloud.meddle(done.physical_id, {"flavor": "small"})

    assert log(done).left(cloud.owned(), set(ids(cloud).values())) == []


@pytest.mark.parametrize(
    ("policy", "status", "known"),
    [(Mode.DETECT, DriftStatus.DRIFTED, 1), (Mode.OFF, None, 0)],
)
def test_what_is_left_is_told_of_stacks_that_are_looked_at(cloud, policy, status, known):
    stood_for = set(ids(cloud).values())
    done = drift(cloud, "s/A", Kind.MISSING)
    drifts = log(done, policy)

    expected = list(drifts.expected(drifts.left(cloud.owned(), stood_for)))

    assert expected == [("s", status, {(done.physical_id, Kind.MISSING)} if known else set())]


def test_whatever_is_done_to_a_stack_that_nobody_is_to_heal_is_noticed(cloud):
    before = len(cloud.audit())
    cloud.update(ids(cloud)["s/A"], {"flavor": "large"})
    cloud.show(ids(cloud)["s/B"])

    assert len(list(touched(cloud.audit(before), {"s"}))) == 1
    assert list(touched(cloud.audit(before), {"t"})) == []


@contextmanager
def served(cloud):
    server = CloudServer(cloud)
    thread = Thread(target=server.serve_forever)
    thread.start()
    control = CloudControl(server.url)
    try:
        yield control
    finally:
        control.cloud.close()
        server.shutdown()
        server.server_close()
        thread.join()


def test_what_happens_is_logged_and_follows_from_the_seed(cloud):
    def play(policies):
        again = Cloud()
        for found in cloud.owned():
            again.create(found["name"], SERVER, found["owner"], {**found["properties"], "uses": []}, wait=0)
        with served(again) as control:
            drifts, choice = Drifts(control, policies), random.Random(7)
            for _ in range(6):
                drifts.happen(choice)
            return [(done.kind, done.found["owner"]) for done in drifts.log]

    assert play({"s": Mode.OFF}) == play({"s": Mode.OFF})
    assert sorted({owner for _, owner in play({"s": Mode.OFF})}) == ["s/A", "s/B"]
    assert len(play({"s": Mode.OFF})) == 2  # each object once
    assert play({"other": Mode.HEAL}) == []


def test_what_another_object_uses_is_not_deleted(cloud):
    first, happened = ids(cloud)["s/A"], set()
    with served(cloud) as control:
        for seed in range(40):
            drifts = Drifts(control, {"s": Mode.OFF})
            drifts.happen(random.Random(seed))
            (done,) = drifts.log
            happened.add((done.found["owner"], done.kind))
            if done.kind is Kind.MISSING:
                cloud.create("b", SERVER, "s/B", {"flavor": "small", "uses": [first]})
            else:
                cloud.update(done.physical_id, {"flavor": "small"})

    assert happened == {*((owner, kind) for owner in ("s/A", "s/B") for kind in KINDS)} - {
        ("s/A", Kind.MISSING)
    }
