# SPDX-License-Identifier: Apache-2.0
"""Resources, events, types, templates, services."""

from __future__ import annotations

import pytest

from heatconv import errors


@pytest.fixture
def stack_id(engine):
    stack_id = engine.add_stack("web")
    engine.add_resource(stack_id, "a", required_by=["b"])
    engine.add_resource(stack_id, "b")
    return stack_id


def test_resources(run, stack_id):
    rows = run("resource", "list", "web", "-f", "json").json
    assert [(row["resource_name"], row["resource_status"]) for row in rows] == [
        ("a", "CREATE_COMPLETE"),
        ("b", "CREATE_COMPLETE"),
    ]
    shown = run("resource", "show", "web", "a", "--attribute", "more", "-f", "json").json
    assert shown["attributes"] == {"output": "a", "more": "asked for"}
    assert shown["required_by"] == ["b"]
    ran = run("resource", "show", "web", "nothing")
    assert (ran.code, ran.err) == (1, "The Resource (nothing) could not be found.\n")


def test_resource_types(run, engine):
    rows = run("resource", "type", "list", "--name", "OS::Heat", "-f", "json").json
    assert rows == [{"resource_type": "OS::Heat::None", "description": "Does nothing."}]
    assert engine.queries == [{"name": "OS::Heat"}]
    shown = run("resource", "type", "show", "OS::Heat::None", "-f", "json").json
    assert shown["support_status"] == {"status": "SUPPORTED"}


def test_services(run):
    (row,) = run("service", "list", "-f", "json").json
    assert (row["binary"], row["status"]) == ("heatconv-worker", "up")


def test_what_there_is_to_do(run):
    assert run("service", "work", "-f", "json").json["oldest_ready"] == 3


def test_template_validate(run, tmp_path):
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("heat_template_version: 2018-08-31")
    bad.write_text("broken: true")
    assert run("template", "validate", "-t", str(good), "-f", "json").json["Parameters"] == {}
    ran = run("template", "validate", "-t", str(bad))
    assert (ran.code, ran.err) == (1, "resources.a.type: unknown type\noutputs.b: no value\n")


def test_what_something_happened_to_is_noted(run, engine):
    ran = run("drift", "note", "v1", "unknown")
    assert (ran.code, ran.err) == (0, "1 of 2 are looked at.\n")
    assert run("drift", "note", "v1", "--all-projects").code == 0
    assert engine.noted == [("default", ["v1", "unknown"], False), ("default", ["v1"], True)]


def test_events_come_oldest_first(run, engine, stack_id):
    for name in ("a", "b"):
        engine.add_event(stack_id, name, "CREATE", "COMPLETE", "state changed")
    rows = run("event", "list", "web", "-f", "json").json
    assert [row["resource_name"] for row in rows] == ["a", "b"]
    rows = run("event", "list", "web", "--limit", "1", "-f", "json").json
    assert [row["resource_name"] for row in rows] == ["b"]
    rows = run("event", "list", "web", "--resource", "a", "-f", "json").json
    assert [row["resource_name"] for row in rows] == ["a"]


def without_cursors(engine):
    """Let a service not tell what is new, as Heat does not."""

    def unknown(*_asked, **_more):
        raise errors.NotFound(entity="URL", name="changes")

    engine._list_changes = unknown


@pytest.mark.parametrize("has_cursors", [True, False])
def test_following_events_prints_each_once_until_the_stack_is_gone(run, engine, stack_id, has_cursors):
    if not has_cursors:
        without_cursors(engine)
    asked = "_list_changes" if has_cursors else "_list_events"
    answer = getattr(engine, asked)
    reads = []

    def answer_while_things_happen(*args, **more):
        reads.append(args)
        if len(reads) >= 6:
            engine.stacks.pop(stack_id, None)
        else:
            engine.add_event(stack_id, f"r{len(reads)}", "CREATE", "COMPLETE", "state changed")
        return answer(*args, **more)

    setattr(engine, asked, answer_while_things_happen)
    ran = run("event", "list", "web", "--follow", "--poll", "0.01")
    assert ran.code == 0
    assert [line.split()[1] for line in ran.out.splitlines()] == ["r1", "r2", "r3", "r4", "r5"]


def test_events_are_read_anew_when_some_may_have_been_missed(run, engine, stack_id):
    answer = engine._list_changes
    looks = []

    def dropped_meanwhile(*args, **more):
        looks.append(args)
        if len(looks) == 2:
            engine.add_event(stack_id, "a", "CREATE", "COMPLETE")
            return answer(*args, **more) | {"missed": True, "events": []}
        if len(looks) == 4:
            del engine.stacks[stack_id]
        return answer(*args, **more)

    engine._list_changes = dropped_meanwhile
    ran = run("event", "list", "web", "--follow", "--poll", "0.01")
    assert [line.split()[1] for line in ran.out.splitlines()] == ["a"]


def test_events_are_still_followed_when_the_last_one_read_was_dropped(run, engine, stack_id):
    without_cursors(engine)
    listed = engine._list_events
    first = engine.add_event(stack_id, "a", "CREATE", "IN_PROGRESS")
    reads = []

    def events_with_a_lost_marker(context, stack, query):
        reads.append(query["marker"])
        if len(reads) == 2:
            engine.add_event(stack_id, "b", "CREATE", "COMPLETE")
            raise errors.NotFound(entity="Event", name=first)
        if len(reads) == 4:
            del engine.stacks[stack_id]
        return listed(context, stack, query)

    engine._list_events = events_with_a_lost_marker
    ran = run("event", "list", "web", "--follow", "--poll", "0.01")
    assert [line.split()[1] for line in ran.out.splitlines()] == ["a", "b"]
