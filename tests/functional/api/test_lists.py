# SPDX-License-Identifier: Apache-2.0
"""What lists show and in what order: on each database, of rows as they are there."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from heatconv import errors
from heatconv.db.plumbing.session import Database
from heatconv.engine.event_reads import EventReads
from heatconv.engine.reads import Reads
from heatconv.engine.resource_reads import ResourceReads
from heatconv.resources.registry import Registry
from heatconv.rpc.context import RequestContext
from heatconv.testing.keys import KEYRING
from tests.functional.api.planted import PROJECT, Planted, at
from tests.functional.servers.databases import KINDS

CONTEXT = RequestContext(project_id=PROJECT)


@pytest.fixture(scope="module", params=KINDS)
def planted(request, databases):
    """Return a function that gives rows a database of their own; nobody changes them."""
    with ExitStack() as until:

        def planted(rows: Planted) -> Database:
            url = databases(request.param).fresh()
            until.callback(databases(request.param).drop, url)
            database = Database.from_url(url, KEYRING)
            until.callback(database.close)
            rows.write(database)
            return database

        yield planted


# -- stacks ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reads(planted):
    rows = Planted()
    web = rows.stack("web", tags=("blue", "green"), updated_at=at(500), timeout_mins=5)
    rows.stack("db", tags=("blue",), action="UPDATE", status="FAILED", status_reason="no room")
    rows.stack("mail", tags=("green",), status="IN_PROGRESS", disable_rollback=False, user_name="bob")
    rows.stack("old", action="DELETE", deleted_at=at(600))
    rows.stack("theirs", project_id="other")
    server = rows.resource(web, "server")
    inner = rows.stack("inner", owner_resource_id=server)
    rows.stack("innermost", owner_resource_id=rows.resource(inner, "disk"))
    return Reads(planted(rows), dead_after=10)


def names(reads, *, search="", **query):
    return [row["name"] for row in reads.list_stacks(CONTEXT, query, search=search)["stacks"]]


def id_of(reads, name):
    listed = reads.list_stacks(CONTEXT, {"all_projects": True, "show_nested": True, "show_deleted": True})
    return next(row["id"] for row in listed["stacks"] if row["name"] == name)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["mail", "db", "web"]),
        ({"show_deleted": True}, ["old", "mail", "db", "web"]),
        ({"show_nested": True}, ["innermost", "inner", "mail", "db", "web"]),
        ({"all_projects": True}, ["theirs", "mail", "db", "web"]),
        ({"filters": {"name": ["web", "db", "theirs"]}}, ["db", "web"]),
        ({"filters": {"status": ["FAILED"]}}, ["db"]),
        ({"filters": {"status": ["UPDATE_FAILED", "IN_PROGRESS"]}}, ["mail", "db"]),
        ({"filters": {"status": ["CREATE_IN_PROGRESS"]}}, ["mail"]),
        ({"filters": {"status": ["CREATE_FAILED"]}}, []),
        ({"filters": {"action": ["CREATE"], "status": ["COMPLETE"]}}, ["web"]),
        ({"filters": {"reason": ["no room"]}}, ["db"]),
        ({"filters": {"project": ["other"]}}, []),
        ({"filters": {"project": ["other"]}, "all_projects": True}, ["theirs"]),
        ({"filters": {"username": ["bob"]}}, ["mail"]),
        ({"filters": {"disable_rollback": [False]}}, ["mail"]),
        ({"filters": {"timeout_mins": [5, 6]}}, ["web"]),
        ({"filters": {"stack_user_project_id": ["x"]}}, []),
        ({"tags": ["blue"]}, ["db", "web"]),
        ({"tags": ["blue", "green"]}, ["web"]),
        ({"tags_any": ["blue", "green"]}, ["mail", "db", "web"]),
        ({"not_tags": ["blue", "green"]}, ["mail", "db"]),
        ({"not_tags_any": ["blue", "red"]}, ["mail"]),
        ({"search": "A"}, ["mail"]),
        ({"search": "E"}, ["mail", "db", "web"]),
        ({"search": "e", "filters": {"status": ["FAILED"]}}, ["db"]),
        ({"search": "gre"}, ["mail", "web"]),
        ({"search": "%"}, []),
        ({"search": "_"}, []),
        ({"search": "the", "all_projects": True}, ["theirs"]),
        ({"sort_keys": ["stack_name"]}, ["db", "mail", "web"]),
        ({"sort_keys": ["updated_time"]}, ["db", "mail", "web"]),
        ({"sort_keys": ["stack_status", "stack_name"], "sort_dir": "desc"}, ["mail", "db", "web"]),
    ],
)
def test_a_query_finds(reads, query, found):
    assert names(reads, **query) == found
    counted = {**query, "with_count": True}
    search = counted.pop("search", "")
    assert reads.list_stacks(CONTEXT, counted, search=search)["count"] == len(found)


def test_nested_stacks_are_found_by_their_parent(reads):
    web, inner = id_of(reads, "web"), id_of(reads, "inner")
    assert names(reads, show_nested=True, filters={"parent": [web]}) == ["inner"]
    assert names(reads, show_nested=True, filters={"parent": [web, inner]}) == ["innermost", "inner"]
    assert reads.show_stack(CONTEXT, inner, resolve_outputs=False)["owner_id"] == web
    assert reads.show_stack(CONTEXT, web, resolve_outputs=False)["owner_id"] is None


@pytest.mark.parametrize("sort_dir", ["asc", "desc"])
@pytest.mark.parametrize(
    "sort_keys",
    [
        [],
        ["stack_name"],
        ["creation_time"],
        ["updated_time"],
        ["stack_status"],
        ["stack_status", "stack_name"],
    ],
)
def test_pages_come_one_after_the_other_with_nothing_twice_and_nothing_left_out(reads, sort_keys, sort_dir):
    query = {"show_deleted": True, "show_nested": True, "sort_keys": sort_keys, "sort_dir": sort_dir}
    whole = reads.list_stacks(CONTEXT, query)["stacks"]
    paged, marker = [], None
    while page := reads.list_stacks(CONTEXT, {**query, "limit": 2, "marker": marker})["stacks"]:
        paged += page
        marker = page[-1]["id"]
    assert [row["name"] for row in paged] == [row["name"] for row in whole]
    assert len(whole) == 6


def test_a_page_cannot_start_after_a_stack_that_is_not_there(reads):
    for marker in ("nothing", id_of(reads, "theirs")):
        with pytest.raises(errors.NotFound, match=marker):
            names(reads, marker=marker)


# -- resources -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planted_tree(planted):
    """Three stacks, each inside a resource of the one before, and something left to be cleared away."""
    rows = Planted()
    top = rows.stack("top")
    outer = rows.resource(top, "a")
    rows.resource(top, "b", requires=("a",), status="FAILED", attributes={'["output"]': "told to others"})
    rows.resource(top, "a", wanted=False, physical_id="replaced")
    rows.resource(top, "gone", wanted=False)
    middle = rows.stack("middle", owner_resource_id=outer)
    inner = rows.resource(middle, "m", type="T", action="INIT", physical_id=None)
    bottom = rows.stack("bottom", owner_resource_id=inner)
    rows.resource(bottom, "z")
    dead = rows.stack("dead", owner_resource_id=inner, deleted_at=at(9))
    rows.resource(dead, "never")
    for stack in (top, bottom, dead):
        rows.event(stack, "z", resource_type="A" if stack == top else "B")
    rows.event(top, "a", status="FAILED", resource_type="B")
    return planted(rows), {"top": top, "middle": middle, "bottom": bottom}


@pytest.fixture
def tree(planted_tree):
    return planted_tree[1]


@pytest.fixture
def resource_reads(planted_tree):
    return ResourceReads(planted_tree[0], Registry.load(), lambda _stack, name: f"http://signal/{name}")


@pytest.mark.parametrize(
    ("depth", "found"),
    [(0, ["a", "b", "gone"]), (1, ["a", "b", "gone", "m"]), (2, ["a", "b", "gone", "m", "z"]), (10**9, None)],
)
def test_resources_of_so_many_levels(resource_reads, tree, depth, found):
    listed = resource_reads.list_resources(CONTEXT, tree["top"], {}, nested_depth=depth)
    assert [row["name"] for row in listed] == (found or ["a", "b", "gone", "m", "z"])
    assert listed[0]["physical_id"] == "physical-a"


def test_resources_say_where_they_are_and_what_is_in_them(resource_reads, tree):
    listed = {
        row["name"]: row for row in resource_reads.list_resources(CONTEXT, tree["top"], {}, nested_depth=1)
    }
    assert listed["a"]["stack"] == {"name": "top", "id": tree["top"]}
    assert listed["a"]["nested"] == {"name": "middle", "id": tree["middle"]}
    assert listed["a"]["parent_resource"] is None
    assert listed["a"]["required_by"] == ["b"]
    assert listed["m"]["stack"] == {"name": "middle", "id": tree["middle"]}
    assert listed["m"]["nested"] == {"name": "bottom", "id": tree["bottom"]}
    assert listed["m"]["parent_resource"] == "a"
    assert listed["b"]["nested"] is None

    (row,) = resource_reads.list_resources(CONTEXT, tree["bottom"], {})
    assert row["parent_resource"] == "m"


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"name": ["a", "z"]}, ["a", "z"]),
        ({"type": ["T"]}, ["m"]),
        ({"status": ["CREATE_FAILED"]}, ["b"]),
        ({"status": ["FAILED", "INIT_COMPLETE"]}, ["b", "m"]),
        ({"action": ["INIT"]}, ["m"]),
        ({"physical_id": ["physical-z", "replaced"]}, ["z"]),
        ({"name": ["a"], "status": ["FAILED"]}, []),
    ],
)
def test_resources_are_filtered(resource_reads, tree, filters, found):
    listed = resource_reads.list_resources(CONTEXT, tree["top"], filters, nested_depth=9)
    assert [row["name"] for row in listed] == found


def test_a_resource_by_its_id(resource_reads, tree):
    (row,) = resource_reads.list_resources(CONTEXT, tree["top"], {"name": ["b"]})
    assert resource_reads.list_resources(CONTEXT, tree["top"], {"id": [row["id"]]}) == [row]


@pytest.mark.parametrize(("stack", "name"), [("top", "a"), ("top", "b"), ("middle", "m"), ("bottom", "z")])
def test_one_resource_is_shown_as_it_is_in_the_list(resource_reads, tree, stack, name):
    (listed,) = resource_reads.list_resources(CONTEXT, tree[stack], {"name": [name]})
    shown = resource_reads.show_resource(CONTEXT, tree[stack], name, attributes=[])
    without_attributes = {key: value for key, value in shown.items() if key not in ("attributes", "drift")}
    assert without_attributes == {key: value for key, value in listed.items() if key != "attributes"}


def test_one_attribute_is_read_of_one_resource(resource_reads, tree):
    values = {
        name: resource_reads.get_attribute(CONTEXT, tree["top"], "b", name)["value"]
        for name in (None, "output", "nothing")
    }
    assert values == {None: "physical-b", "output": "b", "nothing": None}
    with pytest.raises(errors.NotFound):
        resource_reads.get_attribute(CONTEXT, tree["top"], "never", None)


def test_attributes_are_those_told_to_others_and_those_asked_for(resource_reads, tree):
    row = resource_reads.show_resource(CONTEXT, tree["top"], "b", attributes=["show", "nothing"])
    assert row["attributes"] == {"output": "told to others", "show": None, "nothing": None}
    row = resource_reads.show_resource(CONTEXT, tree["top"], "b", attributes=["output"])
    assert row["attributes"] == {"output": "b"}


# -- events ----------------------------------------------------------------------------


@pytest.fixture
def event_reads(planted_tree):
    return EventReads(planted_tree[0])


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["top a", "top z"]),
        ({"sort_dir": "asc"}, ["top z", "top a"]),
        ({"nested_depth": 1}, ["top a", "top z"]),
        ({"nested_depth": 2}, ["top a", "bottom z", "top z"]),
        ({"nested_depth": 2, "sort_keys": ["resource_type"]}, ["top z", "bottom z", "top a"]),
        ({"nested_depth": 2, "sort_keys": ["event_time"]}, ["top z", "bottom z", "top a"]),
        ({"filters": {"status": ["CREATE_FAILED"]}}, ["top a"]),
        ({"filters": {"status": ["UPDATE_FAILED"]}}, []),
        ({"filters": {"resource_type": ["A"], "action": ["CREATE"]}}, ["top z"]),
        ({"resource": "z"}, ["top z"]),
        ({"resource": "z", "filters": {"resource_name": ["a"]}}, []),
        ({"limit": 1}, ["top a"]),
    ],
)
def test_events_are_found(event_reads, tree, query, found):
    listed = event_reads.list_events(CONTEXT, tree["top"], query)
    assert [f"{row['stack']['name']} {row['resource_name']}" for row in listed] == found


@pytest.mark.parametrize("sort_dir", ["asc", "desc"])
@pytest.mark.parametrize(
    "sort_keys", [[], ["event_time"], ["resource_type"], ["resource_type", "event_time"]]
)
def test_events_come_in_pages(event_reads, tree, sort_keys, sort_dir):
    query = {"nested_depth": 9, "sort_keys": sort_keys, "sort_dir": sort_dir}
    whole = event_reads.list_events(CONTEXT, tree["top"], query)
    paged, marker = [], None
    while page := event_reads.list_events(CONTEXT, tree["top"], {**query, "limit": 1, "marker": marker}):
        paged += page
        marker = page[-1]["id"]
    assert paged == whole
    assert len(whole) == 3


def test_a_page_of_events_cannot_start_after_one_of_another_stack(event_reads, tree):
    (event,) = event_reads.list_events(CONTEXT, tree["bottom"], {})
    with pytest.raises(errors.NotFound, match=event["id"]):
        event_reads.list_events(CONTEXT, tree["top"], {"marker": event["id"]})


def test_an_event_has_the_properties_its_resource_had(event_reads, tree):
    (event,) = event_reads.list_events(CONTEXT, tree["bottom"], {})
    assert "resource_properties" not in event
    shown = event_reads.show_event(CONTEXT, tree["bottom"], "z", event["id"])
    assert shown == event | {"resource_properties": {"value": "z"}}
