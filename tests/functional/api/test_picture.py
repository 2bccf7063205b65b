# SPDX-License-Identifier: Apache-2.0
"""A stack as it is drawn, of rows as they are in each database."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.tables import resource_observed, stack_observed
from heatconv.engine.picturing import Picturing
from heatconv.engine.reads import Reads
from heatconv.rpc.context import RequestContext
from tests.functional.api.planted import PROJECT, Planted, at

CONTEXT = RequestContext(project_id=PROJECT)


def test_each_resource_is_drawn_as_it_is(database):
    rows = Planted()
    web = rows.stack("web")
    rows.resource(web, "net")
    rows.stack("inner", owner_resource_id=rows.resource(web, "group", requires=("net",)))
    rows.resource(web, "server", requires=("net", "group"), status="FAILED")
    rows.resource(web, "port", status="IN_PROGRESS")
    rows.resource(web, "volume", action="INIT")
    rows.resource(web, "server", wanted=False)
    rows.resource(rows.stack("other"), "foreign")
    rows.write(database)

    picture = Picturing(database).show_picture(CONTEXT, "web", 250, "SER")

    kinds = [(mark["name"], mark["kind"]) for mark in picture["marks"]]
    assert kinds == [
        ("group", "done"),
        ("net", "done"),
        ("port", "moving"),
        ("server", "broken"),
        ("server", "going"),
        ("volume", "waiting"),
    ]
    assert picture["marks"][0]["nested"]["name"] == "inner"
    names = [mark["name"] for mark in picture["marks"]]
    assert sorted((names[required], names[by]) for required, by, _lanes in picture["edges"]) == [
        ("group", "server"),
        ("net", "group"),
        ("net", "server"),
    ]
    assert picture["total"] == 6
    assert picture["kinds"] == {"done": 2, "moving": 1, "broken": 1, "going": 1, "waiting": 1}
    assert [name.partition(" ")[0] for name in picture["found"]] == ["server", "server"]


def test_what_has_drifted_is_seen(database):
    rows = Planted()
    web = rows.stack("web")
    server = rows.resource(web, "server")
    rows.write(database)
    seen = {
        "resource_id": server,
        "stack_id": web,
        "kind": "MISSING",
        "handling": "open",
        "digest": "",
        "reason": "it is gone",
        "observed_at": at(0),
        "atomic_key": 2,
    }
    with database.engine.begin() as connection:
        connection.execute(sa.insert(resource_observed).values(seen))
    (mark,) = Picturing(database).show_picture(CONTEXT, "web", 250)["marks"]
    assert mark["kind"] == "drifted"


def test_many_are_rolled_up_and_the_broken_one_is_seen(database):
    rows = Planted()
    web = rows.stack("web")
    for number in range(1000):
        rows.resource(web, f"m{number}", status="FAILED" if number == 700 else "COMPLETE")
    rows.write(database)
    painter = Picturing(database)
    picture = painter.show_picture(CONTEXT, "web", 250)
    found = {mark["key"]: (mark["name"], mark["count"]) for mark in picture["marks"]}
    assert found == {"0/done/OS::Heat::TestResource": ("m0", 999), "=m700": ("m700", 1)}
    opened = painter.show_picture(CONTEXT, "web", 250, mark="0/done/OS::Heat::TestResource")
    assert len(opened["members"]) == 200


def test_what_is_looked_for_by_its_whole_name_is_found_first(database):
    rows = Planted()
    web = rows.stack("web")
    for number in range(1000):
        rows.resource(web, str(number))
    for name in ("a-net", "Net", "net", "net-b"):
        rows.resource(web, name)
    rows.write(database)
    painter = Picturing(database)

    picture = painter.show_picture(CONTEXT, "web", 250, "9")
    assert picture["found"][:4] == ["9", "90", "900", "901"]
    assert len(picture["found"]) == 50
    assert "=9" in {mark["key"] for mark in picture["marks"]}
    assert painter.show_picture(CONTEXT, "web", 250, "net")["found"] == ["net", "Net", "net-b", "a-net"]


def test_a_list_tells_which_stacks_have_drifted(database):
    rows = Planted()
    web, _other = rows.stack("web"), rows.stack("other")
    rows.write(database)
    seen = {"stack_id": web, "status": "DRIFTED", "since": at(1), "due_at": at(3), "blind": False, "heals": 0}
    with database.engine.begin() as connection:
        connection.execute(sa.insert(stack_observed).values(seen))
    reads = Reads(database, dead_after=10)
    listed = reads.list_stacks(CONTEXT, {"with_drift": True, "sort_keys": ["stack_name"], "sort_dir": "asc"})
    assert [each["drift"]["status"] for each in listed["stacks"]] == ["UNKNOWN", "DRIFTED"]
    assert "drift" not in reads.list_stacks(CONTEXT, {})["stacks"][0]
