# SPDX-License-Identifier: Apache-2.0
"""Reading stacks.  Every query here is scoped to a project in one place, ``visible``."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db import rows
from heatconv.db.convergence import project_quota
from heatconv.db.plumbing.filters import Condition, Given, conditions, in_status
from heatconv.db.plumbing.places import Opened
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.session import reading
from heatconv.db.tables import raw_template, resource, stack, stack_tag
from heatconv.model.records import RawTemplate, Stack


@dataclass(frozen=True, kw_only=True)
class Page:
    """Which stacks a listing shows, and in what order.

    Sorted by ``updated_time``, a stack that was never updated counts by the time
    of its creation.
    """

    limit: int | None = None
    marker: str | None = None
    sort_keys: Sequence[str] = ()
    sort_dir: str | None = None
    show_deleted: bool = False
    show_nested: bool = False
    filters: Given = field(default_factory=dict)
    tags: Sequence[str] = ()  #: has all of them
    tags_any: Sequence[str] = ()  #: has one of them
    not_tags: Sequence[str] = ()  #: has not all of them
    not_tags_any: Sequence[str] = ()  #: has none of them
    search: str = ""  #: is in its name or in one of its tags, in whichever case


_SORT_KEYS = {
    "stack_name": stack.c.name,
    "stack_status": stack.c.status,
    "creation_time": stack.c.created_at,
    "updated_time": sa.func.coalesce(stack.c.updated_at, stack.c.created_at),
}

_FILTERS: dict[str, Condition] = {
    "id": stack.c.id.in_,
    "name": stack.c.name.in_,
    "action": stack.c.action.in_,
    "status": in_status(stack),
    "reason": stack.c.status_reason.in_,
    "project": stack.c.project_id.in_,
    "username": stack.c.user_name.in_,
    "parent": lambda ids: stack.c.owner_resource_id.in_(
        sa.select(resource.c.id).where(resource.c.stack_id.in_(ids))
    ),
    "disable_rollback": stack.c.disable_rollback.in_,
    "timeout_mins": stack.c.timeout_mins.in_,
    "stack_user_project_id": lambda _ids: sa.false(),  # no stack has one
}


def visible(project_id: str | sa.BindParameter[str] | None) -> sa.ColumnElement[bool]:
    """The stacks that a project's members may know of; None stands for all projects."""
    return sa.true() if project_id is None else stack.c.project_id == project_id


@reading
def find(connection: Connection, project_id: str | None, name_or_id: str) -> Stack | None:
    """Return a project's stack by id, deleted or not, or a living one by name."""
    asked = {"name_or_id": name_or_id} | ({} if project_id is None else {"project_id": project_id})
    found = connection.execute(_finding(everywhere=project_id is None), asked).all()
    row = the_one(found, name_or_id)
    return None if row is None else with_tags(connection, row)


#: Few stacks have tags: those of one that has none are not asked for.
TAGGED = sa.exists().where(stack_tag.c.stack_id == stack.c.id).label("tagged")


@functools.cache
def _finding(*, everywhere: bool) -> Prepared:
    project_id: sa.BindParameter[str] | None = None if everywhere else sa.bindparam("project_id")
    return Prepared(sa.select(stack, TAGGED).where(is_called(sa.bindparam("name_or_id"), project_id)))


def with_tags(connection: Connection, row: sa.Row[Any]) -> Stack:
    """Return the record of a row that says whether the stack is ``tagged``."""
    return rows.stack(row, _tags(connection, [row.id]).get(row.id, ()) if row.tagged else ())


def is_called(
    name_or_id: sa.BindParameter[str], project_id: sa.BindParameter[str] | None
) -> sa.ColumnElement[bool]:
    """The stack of a project that has this id, deleted or not, and the living one that has it for a name.

    Of all projects if that is None.  Each of the two is found by a key of its own.  The project of the former
    is an expression, or PostgreSQL may look through all stacks that the project has ever had.
    """
    if project_id is None:
        return sa.or_(stack.c.id == name_or_id, stack.c.live_name == name_or_id)
    return sa.or_(
        sa.and_(stack.c.id == name_or_id, stack.c.project_id + "" == project_id),
        sa.and_(stack.c.project_id == project_id, stack.c.live_name == name_or_id),
    )


def the_one(found: Sequence[sa.Row[Any]], name_or_id: str) -> sa.Row[Any] | None:
    """Return the row of the stack that is called so: one may have another's id for a name."""
    return next((row for row in found if row.id == name_or_id), found[0] if found else None)


@reading
def get(connection: Connection, stack_id: str) -> Stack | None:
    """Return a stack by id, for a daemon's own use."""
    row = connection.execute(_GET, {"stack_id": stack_id}).one_or_none()
    return None if row is None else with_tags(connection, row)


_GET = Prepared(sa.select(stack, TAGGED).where(stack.c.id == sa.bindparam("stack_id")))


@reading
def get_many(connection: Connection, stack_ids: Iterable[str]) -> dict[str, Stack]:
    """Return stacks by id, without tags, for a daemon's own use."""
    found = connection.execute(sa.select(stack).where(stack.c.id.in_(list(stack_ids))))
    return {row.id: rows.stack(row) for row in found}


@reading
def list_stacks(connection: Connection, project_id: str | None, page: Page) -> list[Stack]:
    """Return a page of a project's stacks, the newest first unless asked otherwise.

    Raises:
        NotFound: the project has no stack that is the marker.
    """
    if page.marker is not None and not _is_there(connection, project_id, page.marker):
        raise errors.NotFound(entity="Stack", name=page.marker)
    query = _ordered(_matching(sa.select(stack), project_id, page), page)
    found = connection.execute(query.limit(page.limit)).all()
    tags = _tags(connection, [row.id for row in found])
    return [rows.stack(row, tags.get(row.id, ())) for row in found]


@reading
def count(connection: Connection, project_id: str | None, page: Page) -> int:
    """Return how many stacks match, whatever the page."""
    query = _matching(sa.select(sa.func.count()).select_from(stack), project_id, page)
    return int(connection.scalar(query) or 0)


@reading
def check_quota(connection: Connection, project_id: str, stack_id: str, limit: int) -> None:
    """Refuse a project a stack if it has as many others by now as it may; ``traversals.create`` makes sure.

    Raises:
        RequestLimitExceeded: it has.
    """
    project_quota.check(connection, stack, project_id, stack_id, limit)


def _is_there(connection: Connection, project_id: str | None, stack_id: str) -> bool:
    query = sa.select(stack.c.id).where(visible(project_id), stack.c.id == stack_id)
    return connection.scalar(query) is not None


def _matching(query: sa.Select[Any], project_id: str | None, page: Page) -> sa.Select[Any]:
    query = query.where(visible(project_id))
    if not page.show_deleted:
        query = query.where(stack.c.deleted_at.is_(None))
    if not page.show_nested:
        query = query.where(stack.c.owner_resource_id.is_(None))
    query = query.where(*conditions(_FILTERS, page.filters))
    if page.tags:
        query = query.where(_tagged(page.tags) == len(set(page.tags)))
    if page.tags_any:
        query = query.where(_tagged(page.tags_any) > 0)
    if page.not_tags:
        query = query.where(_tagged(page.not_tags) < len(set(page.not_tags)))
    if page.not_tags_any:
        query = query.where(_tagged(page.not_tags_any) == 0)
    if page.search:
        query = query.where(_has(stack.c.name, page.search) | _is_tagged_like(page.search))
    return query


def _has(column: sa.Column[str], text: str) -> sa.ColumnElement[bool]:
    return sa.func.lower(column).contains(text.lower(), autoescape=True)


def _is_tagged_like(text: str) -> sa.Exists:
    return sa.exists().where(stack_tag.c.stack_id == stack.c.id, _has(stack_tag.c.tag, text))


def _tagged(tags: Iterable[str]) -> sa.ScalarSelect[int]:
    return (
        sa.select(sa.func.count())
        .select_from(stack_tag)
        .where(stack_tag.c.stack_id == stack.c.id, stack_tag.c.tag.in_(set(tags)))
        .scalar_subquery()
    )


def _ordered(query: sa.Select[Any], page: Page) -> sa.Select[Any]:
    keys = [_SORT_KEYS[key] for key in page.sort_keys if key in _SORT_KEYS] or [stack.c.created_at]
    descending = (page.sort_dir or ("asc" if page.sort_keys else "desc")) == "desc"
    columns = [*keys, stack.c.id]
    if page.marker is not None:
        at = sa.select(*columns).where(stack.c.id == page.marker).subquery()
        mine, its = sa.tuple_(*columns), sa.select(*at.c).scalar_subquery()
        query = query.where(mine < its if descending else mine > its)
    return query.order_by(*(column.desc() if descending else column for column in columns))


def _tags(connection: Connection, stack_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the tags of some stacks in the order they were given."""
    tags: dict[str, tuple[str, ...]] = {}
    for row in connection.execute(_TAGS, {"stack_ids": list(stack_ids)}) if stack_ids else ():
        tags[row.stack_id] = (*tags.get(row.stack_id, ()), row.tag)
    return tags


_TAGS = Prepared(
    sa.select(stack_tag)
    .where(stack_tag.c.stack_id.in_(sa.bindparam("stack_ids", expanding=True)))
    .order_by(stack_tag.c.stack_id, stack_tag.c.position)
)


@reading
def get_template(connection: Connection, template_id: int) -> RawTemplate:
    """Return a template by id.

    Raises:
        StaleWrite: it was replaced, and then dropped, since its id was read.
    """
    query = sa.select(raw_template).where(raw_template.c.id == template_id)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise errors.StaleWrite(entity=f"template {template_id}")
    return rows.raw_template(row)


@reading
def get_environment(connection: Connection, template_id: int) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """Return what is beside a template, environment and files: a group's template is as large as the group.

    Raises:
        StaleWrite: it was replaced, and then dropped, since its id was read.
    """
    beside = sa.select(
        raw_template.c.uuid, raw_template.c.stack_id, raw_template.c.environment, raw_template.c.files
    )
    row = connection.execute(beside.where(raw_template.c.id == template_id)).one_or_none()
    if row is None:
        raise errors.StaleWrite(entity=f"template {template_id}")
    template = Opened(raw_template, row)
    return template.environment, template.files
