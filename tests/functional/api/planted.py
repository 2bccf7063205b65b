# SPDX-License-Identifier: Apache-2.0
"""Rows put into a database as engines and workers would leave them, without the work.

rows = Planted()
web = rows.stack("web", tags=("blue",))
rows.resource(web, "server", requires=("net",))
rows.write(database)
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from heatconv.db.plumbing.places import placed
from heatconv.db.plumbing.session import Database, writing
from heatconv.db.tables import event, raw_template, resource, stack, stack_tag
from heatconv.model.deferred import call
from heatconv.model.definition import Definition

PROJECT = "tests"
BEGIN = datetime.fromisoformat("2026-01-31T12:00:00")  # as the database has it: UTC, unsaid
_PORTION = 1000  #: rows a statement


def at(second: int) -> datetime:
    """Return a moment."""
    return BEGIN + timedelta(seconds=second)


class Planted:
    """Rows to be written; each stack is a second younger than the one before."""

    def __init__(self) -> None:
        self._rows: dict[sa.Table, list[dict[str, Any]]] = {
            table: [] for table in (raw_template, stack, stack_tag, resource, event)
        }
        self._named: dict[tuple[str, str], str] = {}

    def stack(self, name: str, *, tags: Sequence[str] = (), **columns: Any) -> str:
        """Add a stack that was created, with what else is told of it; return its id."""
        number = len(self._rows[stack])
        row = {
            "id": _id(number),
            "name": name,
            "live_name": None if columns.get("deleted_at") else name,
            "project_id": PROJECT,
            "user_id": "u",
            "user_name": "alice",
            "owner_resource_id": None,
            "description": "",
            "raw_template_id": number + 1,
            "prev_raw_template_id": number + 1,
            "current_traversal": _id(10**9 + number),
            "action": "CREATE",
            "status": "COMPLETE",
            "status_reason": "Stack CREATE completed successfully",
            "phase": "DONE",
            "disable_rollback": True,
            "timeout_mins": None,
            "deadline": None,
            "abandoned": False,
            "atomic_key": 1,
            "created_at": at(number),
            "updated_at": None,
            "deleted_at": None,
            **columns,
        }
        self._rows[stack].append(row)
        self._rows[raw_template].append(_template(number + 1, row["id"]))
        for position, tag in enumerate(tags):
            self._rows[stack_tag].append({"stack_id": row["id"], "tag": tag, "position": position})
        return str(row["id"])

    def resource(
        self,
        stack_id: str,
        name: str,
        *,
        requires: Sequence[str] = (),
        made_with: Sequence[str] | None = None,
        wanted: bool = True,
        **columns: Any,
    ) -> str:
        """Add a resource that was created; return its row's id.

        It was made with those that it requires, if they were added before, unless ``made_with`` names others.
        """
        number = len(self._rows[resource])
        with_names = [(stack_id, each) for each in (requires if made_with is None else made_with)]
        definition = Definition(
            name=name, type="OS::Heat::TestResource", properties={"value": name}, depends_on=tuple(requires)
        )
        row = {
            "id": _id(2 * 10**9 + number),
            "stack_id": stack_id,
            "name": name,
            "type": definition.type,
            "version": 0,
            "desired": definition.to_json() if wanted else None,
            "desired_sha1": definition.sha1 if wanted else None,
            "wanted_attributes": ['["output"]'],
            "applied": definition.to_json(),
            "applied_sha1": definition.sha1,
            "requires": {self._named[each]: 1 for each in with_names if each in self._named},
            "physical_id": f"physical-{name}",
            "reference_id": f"physical-{name}",
            "attributes": {'["output"]': name},
            "output_version": 1,
            "action": "CREATE",
            "status": "COMPLETE",
            "status_reason": "state changed",
            "atomic_key": 2,
            "metadata": {},
            "data": {},
            "created_at": at(number),
            "updated_at": None,
            **columns,
        }
        self._rows[resource].append(row)
        self._named[stack_id, name] = str(row["id"])
        return str(row["id"])

    def event(self, stack_id: str, name: str, **columns: Any) -> str:
        """Add something that happened to a resource after all that was added before; return its uuid."""
        number = len(self._rows[event])
        row = {
            "uuid": str(uuid.uuid4()),
            "stack_id": stack_id,
            "resource_id": None,
            "resource_name": name,
            "resource_type": "OS::Heat::TestResource",
            "physical_id": f"physical-{name}",
            "action": "CREATE",
            "status": "COMPLETE",
            "status_reason": "state changed",
            "properties": {"value": name},
            "created_at": at(number),
            **columns,
        }
        self._rows[event].append(row)
        return str(row["uuid"])

    def write(self, database: Database) -> None:
        """Put all of it into a database."""
        for table, rows in self._rows.items():
            for portion in _portions(rows):
                _insert(database, table, portion)


@writing
def _insert(connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    connection.execute(sa.insert(table), [placed(table, row) for row in rows])


def _template(number: int, stack_id: str) -> dict[str, Any]:
    text = {"heat_template_version": "2018-08-31"}
    output = {"description": "", "value": call("get_attr", ["r0", "output"])}
    return {
        "id": number,
        "uuid": _id(number),
        "stack_id": stack_id,
        "template": text,
        "environment": {},
        "files": {},
        "outputs": {"first": output},
        "parameters": {"OS::stack_id": stack_id},
    }


def _id(number: int) -> str:
    return str(uuid.UUID(int=number))


def _portions(rows: list[dict[str, Any]]) -> Iterable[list[dict[str, Any]]]:
    return (rows[start : start + _PORTION] for start in range(0, len(rows), _PORTION))
