# SPDX-License-Identifier: Apache-2.0
"""Records in the terms of ``heatconv.rpc.engine_client``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from heatconv.db.surveys import Survey
from heatconv.model.drift import Drift, DriftStatus, Handling, StackDrift
from heatconv.model.records import Child, Event, Listed, Nested, ResourceRow, Service, Stack, state_shown
from heatconv.model.secrets import HIDDEN, masked

Json = dict[str, Any]


def stack(record: Stack, *, parent_id: str | None, done: int, total: int) -> Json:
    """Return a stack, ``done`` of ``total`` nodes of the phase that it is in."""
    return {
        "id": record.id,
        "name": record.name,
        "project": record.project_id,
        "description": record.description,
        "action": record.action,
        "status": record.status,
        "reason": record.reason,
        "phase": record.phase,
        "progress": {"done": done, "total": total},
        "created_at": time(record.created_at),
        "updated_at": time(record.updated_at),
        "deleted_at": time(record.deleted_at),
        "disable_rollback": record.disable_rollback,
        "timeout_mins": record.timeout_mins,
        "tags": list(record.tags),
        "owner_id": parent_id,
        "user_name": record.user_name,
        "convergence": record.policy,
    }


def identity(record: Stack | Nested | Child) -> Json:
    """Return what a stack is called."""
    return {"name": record.name, "id": record.id}


def resource(record: Listed | ResourceRow, required_by: Sequence[str]) -> Json:
    """Return a resource."""
    action, status = state_shown(record.action, record.status, record.hook)
    return {
        "id": record.id,
        "name": record.name,
        "type": record.type,
        "physical_id": record.physical_id,
        "action": action,
        "status": status,
        "reason": record.reason,
        "required_by": list(required_by),
        "created_at": time(record.created_at),
        "updated_at": time(record.updated_at or record.created_at),
        "description": record.desired.description if record.desired else "",
        "version": record.version,
    }


def incarnation(record: Listed, wanted: Listed | None) -> Json:
    """Return which of the rows of its name a row is, and the one that has taken its place, if one has."""
    return {
        "wanted": record.desired is not None,
        "replaced_by": None
        if wanted is None or record.desired is not None
        else {
            "id": wanted.id,
            "version": wanted.version,
            "physical_id": wanted.physical_id,
            "action": wanted.action,
            "status": wanted.status,
        },
    }


def drift(record: StackDrift | None) -> Json:
    """Return how a root stack was found."""
    if record is None:
        return {"status": DriftStatus.UNKNOWN, "since": None, "observed_at": None}
    return {
        "status": record.status,
        "since": time(record.since),
        "observed_at": time(record.observed_at),
    }


def resource_drift(record: Drift) -> Json:
    """Return how a resource has drifted, secrets hidden."""
    return {
        "kind": record.kind,
        "reason": record.reason,
        "since": time(record.since),
        "left_alone": record.handling is not Handling.OPEN,
        "differences": list(_differences(record)),
    }


def _differences(record: Drift) -> Iterator[Json]:
    """Yield each property that differs with both of its values."""
    applied = record.row.applied
    for name, live in record.differences.items():
        wanted = applied and applied.properties.get(name)
        shown = masked(wanted, applied.secrets if applied else ())
        # What is there in place of a secret is as good as one.
        yield {"property": name, "wanted": shown, "observed": live if shown == wanted else HIDDEN}


def event(record: Event, stack_of: Json) -> Json:
    """Return an event of a stack."""
    return {
        "id": record.uuid,
        "time": time(record.created_at),
        "resource_name": record.resource_name,
        "resource_type": record.resource_type,
        "physical_id": record.physical_id,
        "action": record.action,
        "status": record.status,
        "reason": record.reason,
        "stack": stack_of,
    }


def service(record: Service) -> Json:
    """Return a daemon."""
    return {
        "id": record.engine_id,
        "engine_id": record.engine_id,
        "binary": record.binary,
        "host": record.host,
        "topic": record.topic,
        "report_interval": record.report_interval,
        "created_at": record.created_at.isoformat(timespec="microseconds"),
        "updated_at": record.updated_at.isoformat(timespec="microseconds"),
        "status": "up" if record.alive else "down",
    }


def work(survey: Survey) -> Json:
    """Return how much there is to do; seconds are whole ones."""
    return {
        "backlog": survey.backlog,
        "oldest_ready": int(survey.ready),
        "oldest_traversal": int(survey.traversal),
        "longest_action": int(survey.action),
        "observation_lateness": int(survey.observation),
    }


def time(moment: datetime | None) -> str | None:
    """Return a moment, in UTC, to the second."""
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")
