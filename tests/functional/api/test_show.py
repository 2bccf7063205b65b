# SPDX-License-Identifier: Apache-2.0
"""What is shown of one stack: on each database, of rows as they are there."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from heatconv import errors
from heatconv.engine.reads import Reads
from heatconv.rpc.context import RequestContext
from tests.functional.api.planted import PROJECT, Planted

CONTEXT = RequestContext(project_id=PROJECT)


@pytest.fixture
def reads(database):
    return Reads(database, dead_after=10)


def test_a_stack_is_shown_whose_template_cannot_be_read(database, reads):
    rows = Planted()
    rows.stack("web", tags=("blue", "green"))
    rows.write(database)
    spoilt = "UPDATE raw_template SET template = '{', environment = '{', files = '{'"
    with database.engine.begin() as connection:
        connection.execute(sa.text(spoilt))

    shown = reads.show_stack(CONTEXT, "web", resolve_outputs=True)

    assert (shown["name"], shown["tags"]) == ("web", ["blue", "green"])
    assert [output["output_key"] for output in shown["outputs"]] == ["first"]
    with pytest.raises(errors.BrokenSeal):
        reads.get_template(CONTEXT, "web")


def test_a_nested_stack_is_shown_with_the_one_around_it(database, reads):
    rows = Planted()
    web = rows.stack("web")
    rows.stack("inner", owner_resource_id=rows.resource(web, "server"))
    rows.write(database)

    assert reads.show_stack(CONTEXT, "inner", resolve_outputs=False)["owner_id"] == web
    assert reads.show_stack(CONTEXT, "web", resolve_outputs=False)["owner_id"] is None


def test_what_has_another_stacks_id_for_a_name_does_not_stand_in_for_it(database, reads):
    rows = Planted()
    web = rows.stack("web")
    rows.stack(web)
    rows.write(database)

    assert reads.show_stack(CONTEXT, web, resolve_outputs=False)["name"] == "web"


def test_several_are_shown_as_each_is_alone_to_who_asks_for_it(database, reads):
    rows = Planted()
    web = rows.stack("web", tags=("blue",))
    inner = rows.stack("inner", owner_resource_id=rows.resource(web, "server"))
    theirs = rows.stack("theirs", project_id="other")
    rows.write(database)

    def asked(project_id, stack_id, *, resolve_outputs):
        return {"project_id": project_id, "stack_id": stack_id, "resolve_outputs": resolve_outputs}

    shown = reads.show_stacks(
        RequestContext(project_id=""),
        [
            asked(PROJECT, web, resolve_outputs=True),
            asked(PROJECT, inner, resolve_outputs=False),
            asked("other", theirs, resolve_outputs=False),
            asked(PROJECT, theirs, resolve_outputs=False),
            asked(PROJECT, "nowhere", resolve_outputs=False),
            asked(PROJECT, web, resolve_outputs=False),
        ],
    )

    assert shown == [
        reads.show_stack(CONTEXT, web, resolve_outputs=True),
        reads.show_stack(CONTEXT, inner, resolve_outputs=False),
        reads.show_stack(RequestContext(project_id="other"), theirs, resolve_outputs=False),
        None,
        None,
        reads.show_stack(CONTEXT, web, resolve_outputs=False),
    ]


def test_what_would_be_late_is_to_be_asked_for_alone(database, reads, monkeypatch):
    rows = Planted()
    web = rows.stack("web")
    rows.write(database)
    monkeypatch.setattr("heatconv.engine.reads.MOMENT", -1)

    wanted = [{"project_id": PROJECT, "stack_id": web, "resolve_outputs": True}]
    assert reads.show_stacks(RequestContext(project_id=""), wanted) == [None]


def test_another_projects_stack_is_not_there(database, reads):
    rows = Planted()
    theirs = rows.stack("theirs", project_id="other")
    rows.write(database)

    for called in ("theirs", theirs):
        with pytest.raises(errors.NotFound):
            reads.show_stack(CONTEXT, called, resolve_outputs=False)
    them = RequestContext(project_id="other")
    assert reads.show_stack(them, theirs, resolve_outputs=False)["id"] == theirs
