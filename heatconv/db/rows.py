# SPDX-License-Identifier: Apache-2.0
"""How rows become records."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar

from heatconv import errors
from heatconv.db import tables
from heatconv.db.plumbing.places import Opened
from heatconv.db.plumbing.types import Closed, Place
from heatconv.model.definition import Definition
from heatconv.model.drift import DriftStatus, StackDrift
from heatconv.model.foreseen import Foreseen
from heatconv.model.nodes import NodeData
from heatconv.model.records import (
    Attempt,
    Edition,
    Event,
    Extant,
    Listed,
    RawTemplate,
    ResourceRow,
    Service,
    Snapshot,
    Stack,
)
from heatconv.model.states import Action, DeletionPolicy, Phase, Status

LOG = logging.getLogger(__name__)

T = TypeVar("T")


def intact(found: Iterable[Any], record: Callable[[Any], T]) -> list[T]:
    """Return the records of rows, and say of those whose seal is broken that they are left alone.

    For who sees to the rows of many stacks: one that somebody has meddled with is not to stop the others.
    """
    records = []
    for row in found:
        try:
            records.append(record(row))
        except errors.BrokenSeal as broken:
            LOG.error("%s", broken)  # noqa: TRY400 - which row it is says all
    return records


def stack(row: Any, tags: tuple[str, ...] = (), *, now: datetime | None = None) -> Stack:
    """Return the record of a row of ``stack``.

    Its deadline is by the database's clock; by that of this host if ``now`` says what time it is by the
    database's.
    """
    return Stack(
        id=row.id,
        name=row.name,
        project_id=row.project_id,
        user_id=row.user_id,
        user_name=row.user_name,
        changed_by=row.changed_by,
        guarded=row.guarded,
        owner_resource_id=row.owner_resource_id,
        root_id=row.root_stack_id,
        depth=row.nested_depth,
        size=row.size,
        description=row.description,
        raw_template_id=row.raw_template_id,
        prev_raw_template_id=row.prev_raw_template_id,
        current_traversal=row.current_traversal,
        action=Action(row.action),
        status=Status(row.status),
        reason=row.status_reason,
        phase=Phase(row.phase),
        disable_rollback=row.disable_rollback,
        timeout_mins=row.timeout_mins,
        deadline=_by_this_host(row.deadline, now) if now and row.deadline else row.deadline,
        atomic_key=row.atomic_key,
        created_at=row.created_at,
        updated_at=row.updated_at,
        deleted_at=row.deleted_at,
        tags=tags,
        abandoned=row.abandoned,
        policy=row.policy,
    )


def _by_this_host(moment: datetime, now: datetime) -> datetime:
    return moment - now + datetime.now(UTC).replace(tzinfo=None)


def stack_drift(
    stack_id: str, status: str, since: datetime, observed_at: datetime | None, traversal_id: str | None
) -> StackDrift:
    """Return the record of these columns of ``stack_observed``."""
    return StackDrift(
        stack_id=stack_id,
        status=DriftStatus(status),
        since=since,
        observed_at=observed_at,
        traversal_id=traversal_id,
    )


def raw_template(row: Any) -> RawTemplate:
    """Return the record of a row of ``raw_template``."""
    row = Opened(tables.raw_template, row)
    return RawTemplate(
        id=row.id,
        template=row.template,
        environment=row.environment,
        files=row.files,
        outputs=row.outputs,
        parameters=row.parameters,
    )


#: For who reads thousands of rows: to call the enumeration takes ten times as long.
_ACTIONS = {action.value: action for action in Action}
_STATUSES = {status.value: status for status in Status}
_POLICIES = {policy.value: policy for policy in DeletionPolicy}


def extant(row: Any, stack_id: str) -> Extant:
    """Return what preparing a traversal sees of a row of ``resource``; unpacked, for there may be many."""
    id_, name, desired, applied, requires, attributes, version, action, status, *rest = row
    engine_id, policy, drifted = rest
    if isinstance(attributes, Closed):
        attributes = attributes.opened(Place("resource", "attributes", (stack_id, id_)))
    return Extant(
        id_,
        name,
        desired is not None,
        desired,
        applied,
        requires,
        _without_secrets(attributes),
        version,
        _ACTIONS[action],
        _STATUSES[status],
        engine_id is not None,
        bool(drifted),
        policy,
    )


def resource(row: Any) -> ResourceRow:
    """Return the record of a row of ``resource``."""
    sealed = Opened(tables.resource, row)
    desired, applied, progress = sealed.desired, sealed.applied, sealed.progress
    return ResourceRow(
        id=row.id,
        stack_id=row.stack_id,
        name=row.name,
        type=row.type,
        version=row.version,
        replaces=row.replaces,
        replaced_by=row.replaced_by,
        desired=desired and Definition.from_json(desired),
        desired_sha1=row.desired_sha1,
        deletion_policy=_POLICIES.get(row.deletion_policy),
        foreseen=None if row.foreseen is None else Foreseen.from_json(row.foreseen),
        wanted_attributes=tuple(sealed.wanted_attributes),
        applied=applied and Definition.from_json(applied),
        applied_sha1=row.applied_sha1,
        requires=row.requires,
        physical_id=row.physical_id,
        reference_id=sealed.reference_id,
        attributes=_without_secrets(sealed.attributes),
        output_version=row.output_version,
        action=Action(row.action),
        status=Status(row.status),
        reason=row.status_reason,
        engine_id=row.engine_id,
        atomic_key=row.atomic_key,
        progress=progress and Attempt.from_json(progress),
        hook=row.hook,
        handover=None if row.handover is None else tuple(row.handover),
        metadata=sealed.metadata,
        metadata_key=row.metadata_key,
        data=sealed.data,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def snapshot(row: Any) -> Snapshot:
    """Return the record of a row of ``snapshot``."""
    row = Opened(tables.snapshot, row)
    return Snapshot(
        id=row.id,
        stack_id=row.stack_id,
        name=row.name,
        action=Action(row.action),
        status=Status(row.status),
        reason=row.status_reason,
        data=row.data,
        created_at=row.created_at,
    )


def listed(row: Any) -> Listed:
    """Return what a listing sees of a row of ``resource``."""
    sealed = Opened(tables.resource, row)
    desired, attributes = sealed.desired, sealed.attributes
    return Listed(
        id=row.id,
        stack_id=row.stack_id,
        name=row.name,
        type=row.type,
        version=row.version,
        replaced_by=row.replaced_by,
        desired=desired and Definition.from_json(desired),
        physical_id=row.physical_id,
        attributes=_without_secrets(attributes),
        secrets=tuple(attributes.get(_SECRETS, ())),
        action=Action(row.action),
        status=Status(row.status),
        hook=row.hook,
        reason=row.status_reason,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def event(row: Any) -> Event:
    """Return the record of a row of ``event``."""
    row = Opened(tables.event, row)
    return Event(
        uuid=row.uuid,
        stack_id=row.stack_id,
        resource_id=row.resource_id,
        resource_name=row.resource_name,
        resource_type=row.resource_type,
        physical_id=row.physical_id,
        action=Action(row.action),
        status=Status(row.status),
        reason=row.status_reason,
        properties=row.properties,
        created_at=row.created_at,
    )


def service(row: Any, *, alive: bool) -> Service:
    """Return the record of a row of ``service``."""
    return Service(
        engine_id=row.engine_id,
        host=row.host,
        binary=row.binary,
        topic=row.topic,
        report_interval=row.report_interval,
        created_at=row.created_at,
        updated_at=row.updated_at,
        alive=alive,
        edition=Edition(row.release, row.schema_revision, row.rpc_version)
        if row.release is not None
        else None,
    )


def node_data(data: dict[str, Any]) -> NodeData:
    """Return what a sender told, of the JSON in ``sync_point_input``."""
    return NodeData(**{**data, "secrets": tuple(data["secrets"])})


#: Where ``resource.attributes`` has the texts among the values that must not be shown; the
#: keys of attributes are JSON lists.
_SECRETS = "secrets"


def output_columns(output: NodeData) -> dict[str, Any]:
    """Return what a resource tells as ``resource.attributes`` holds it."""
    secrets = {_SECRETS: list(output.secrets)} if output.secrets else {}
    return {**output.attributes, **secrets}


def output_of(row: Any) -> NodeData:
    """Return what a row of ``resource`` tells those that require it."""
    sealed = Opened(tables.resource, row)
    attributes = sealed.attributes
    return NodeData(
        name=row.name,
        resource_id=row.id,
        reference_id=sealed.reference_id,
        attributes=_without_secrets(attributes),
        output_version=row.output_version,
        secrets=tuple(attributes.get(_SECRETS, ())),
    )


def _without_secrets(attributes: dict[str, Any]) -> dict[str, Any]:
    if _SECRETS not in attributes:
        return attributes
    return {key: value for key, value in attributes.items() if key != _SECRETS}
