# SPDX-License-Identifier: Apache-2.0
"""The tables.  What each one is for stands beside it; migrations make them so.

Whatever may hold a user's secret is ``Sealed``, as a whole, and bound to its row: to the
table's key, or to the columns named as ``row``, among them whose the row is.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from heatconv.db.plumbing.places import ROW
from heatconv.db.plumbing.types import BigInt, Json, LongText, Sealed, SealedText, Time, Uuid, string

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _table(name: str, *items: Any, row: tuple[str, ...] = ()) -> sa.Table:
    return sa.Table(name, metadata, *items, info={ROW: row}, mysql_engine="InnoDB", mysql_charset="utf8mb4")


# A template as posted.  Those before it are dropped when the traversal that applies it
# completes.  ``outputs`` (frozen) and ``parameters`` (as shown) spare reads the freezing.
# Its ``uuid`` is known before it has an id; null of what an earlier release has stored.
raw_template = _table(
    "raw_template",
    sa.Column("id", BigInt, primary_key=True),
    sa.Column("uuid", Uuid),
    sa.Column("stack_id", Uuid, index=True),
    sa.Column("template", Sealed, nullable=False),
    sa.Column("environment", Sealed, nullable=False),
    sa.Column("files", Sealed, nullable=False),
    sa.Column("outputs", Sealed, nullable=False),
    sa.Column("parameters", Sealed, nullable=False),
    row=("stack_id", "uuid"),
)

# What a user calls one thing.  ``live_name`` is the name until the stack is deleted,
# then null: of the living, a project has one stack of a name.
stack = _table(
    "stack",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("name", string(255), nullable=False),
    sa.Column("live_name", string(255)),
    sa.Column("project_id", string(64), nullable=False),
    sa.Column("user_id", string(64)),
    sa.Column("user_name", string(255)),
    sa.Column("owner_resource_id", Uuid, index=True),
    sa.Column("root_stack_id", Uuid),
    sa.Column("nested_depth", sa.Integer, nullable=False, server_default="0"),
    sa.Column("size", sa.Integer, nullable=False, server_default="0"),
    sa.Column("description", LongText, nullable=False),
    sa.Column("raw_template_id", BigInt, nullable=False),
    sa.Column("prev_raw_template_id", BigInt),
    sa.Column("current_traversal", Uuid, nullable=False),
    sa.Column("action", string(16), nullable=False),
    sa.Column("status", string(16), nullable=False),
    sa.Column("status_reason", LongText, nullable=False),
    sa.Column("phase", string(16), nullable=False),
    sa.Column("disable_rollback", sa.Boolean, nullable=False),
    sa.Column("timeout_mins", sa.Integer),
    sa.Column("deadline", Time),
    sa.Column("policy", Json),
    sa.Column("abandoned", sa.Boolean, nullable=False, server_default="0"),
    sa.Column("atomic_key", BigInt, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("updated_at", Time),
    sa.Column("deleted_at", Time),
    sa.UniqueConstraint("project_id", "live_name"),
    sa.Index(None, "project_id", "created_at", "id"),
    sa.Index(None, "status", "phase", "deadline"),
    sa.Index(None, "root_stack_id", "deleted_at"),
)

stack_tag = _table(
    "stack_tag",
    sa.Column("stack_id", Uuid, primary_key=True),
    sa.Column("tag", string(80), primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
)

# One row per physical incarnation: identity; desired; applied; made; the action on it.
# ``deletion_policy`` is that of the newest template that names the resource; null: its definition's.
resource = _table(
    "resource",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("stack_id", Uuid, nullable=False),
    sa.Column("name", string(255), nullable=False),
    sa.Column("type", string(255), nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("replaces", Uuid),
    sa.Column("replaced_by", Uuid),
    sa.Column("desired", Sealed),
    sa.Column("desired_sha1", string(40)),
    sa.Column("deletion_policy", string(16)),
    sa.Column("wanted_attributes", Sealed, nullable=False),
    sa.Column("applied", Sealed),
    sa.Column("applied_sha1", string(40)),
    sa.Column("applied_template_id", BigInt),
    sa.Column("requires", Json, nullable=False),
    sa.Column("physical_id", string(255), index=True),
    sa.Column("reference_id", SealedText),
    sa.Column("attributes", Sealed, nullable=False),
    sa.Column("output_version", sa.Integer, nullable=False),
    sa.Column("action", string(16), nullable=False),
    sa.Column("status", string(16), nullable=False),
    sa.Column("status_reason", LongText, nullable=False),
    sa.Column("engine_id", Uuid, index=True),
    sa.Column("atomic_key", BigInt, nullable=False),
    sa.Column("progress", Sealed),
    sa.Column("hook", string(32)),
    sa.Column("handover", Json),
    sa.Column("metadata", Sealed, nullable=False),
    sa.Column("metadata_key", BigInt, nullable=False, server_default="0"),
    sa.Column("data", Sealed, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("updated_at", Time),
    sa.Index(None, "stack_id", "name"),
    row=("stack_id", "id"),
)

# The dependency graph of one traversal: what each node, once done, has to tell.
graph_edge = _table(
    "graph_edge",
    sa.Column("traversal_id", Uuid, primary_key=True),
    sa.Column("resource_id", Uuid, primary_key=True),
    sa.Column("is_update", sa.Boolean, primary_key=True),
    sa.Column("needed_by_id", Uuid, primary_key=True),
    sa.Column("needed_by_is_update", sa.Boolean, primary_key=True),
    sa.Column("stack_id", Uuid, nullable=False, index=True),
)

# How far each node of a traversal is.  ``acts_on`` is the row that converges the
# node: the node's own, or the one that replaced it during this traversal.  A sync
# point with ``join_for`` stands for no resource: some of that node's requirements
# count themselves in here, and the last of them there.
sync_point = _table(
    "sync_point",
    sa.Column("traversal_id", Uuid, primary_key=True),
    sa.Column("resource_id", Uuid, primary_key=True),
    sa.Column("is_update", sa.Boolean, primary_key=True),
    sa.Column("stack_id", Uuid, nullable=False, index=True),
    sa.Column("acts_on", Uuid, index=True),
    sa.Column("join_for", Uuid),
    sa.Column("required", sa.Integer, nullable=False),
    sa.Column("satisfied", sa.Integer, nullable=False),
    sa.Column("state", string(8), nullable=False),
    sa.Column("ready_at", Time),
    sa.Column("atomic_key", BigInt, nullable=False),
    sa.Index(None, "state", "ready_at"),
)

# What a node was told, one row a sender: a fan-in of n costs n, and a message that
# comes twice cannot count twice.
sync_point_input = _table(
    "sync_point_input",
    sa.Column("traversal_id", Uuid, primary_key=True),
    sa.Column("resource_id", Uuid, primary_key=True),
    sa.Column("is_update", sa.Boolean, primary_key=True),
    sa.Column("sender_id", Uuid, primary_key=True),
    sa.Column("sender_is_update", sa.Boolean, primary_key=True),
    sa.Column("stack_id", Uuid, nullable=False, index=True),
    sa.Column("data", Sealed, nullable=False),
)

# What happened to which resource or stack, when, why.
event = _table(
    "event",
    sa.Column("id", BigInt, primary_key=True),
    sa.Column("uuid", Uuid, nullable=False, unique=True),
    sa.Column("stack_id", Uuid, nullable=False),
    sa.Column("resource_id", Uuid),
    sa.Column("resource_name", string(255), nullable=False),
    sa.Column("resource_type", string(255), nullable=False),
    sa.Column("physical_id", string(255)),
    sa.Column("action", string(16), nullable=False),
    sa.Column("status", string(16), nullable=False),
    sa.Column("status_reason", LongText, nullable=False),
    sa.Column("properties", Sealed),
    sa.Column("created_at", Time, nullable=False),
    sa.Index(None, "stack_id", "id"),
    row=("stack_id", "uuid"),
)

# Who is there.  ``updated_at`` is the last heartbeat, by the database's clock;
# ``backlog`` is how many messages it had taken then and not begun.
service = _table(
    "service",
    sa.Column("engine_id", Uuid, primary_key=True),
    sa.Column("host", string(255), nullable=False),
    sa.Column("binary", string(64), nullable=False),
    sa.Column("topic", string(64), nullable=False),
    sa.Column("report_interval", sa.Integer, nullable=False),
    sa.Column("backlog", sa.Integer, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("updated_at", Time, nullable=False, index=True),
)

# A row whose metadata say what a signal wishes of its nested stack, until that is carried out.
wish = _table(
    "wish",
    sa.Column("resource_id", Uuid, primary_key=True),
    sa.Column("since", Time, nullable=False, index=True),
)

# A root stack with all that is nested in it, as it was found when it was last looked at, and when
# that is next.  There is no row of a stack that was never observed.  ``claim`` is whose
# turn it is, ``cursor`` the last row of a round that takes several, ``blind`` that something could
# not be looked at in it.  ``heals`` counts those begun in the hour after ``heals_since``;
# ``traversal_id`` is the last traversal that was ours, or that we know to be a user's.
stack_observed = _table(
    "stack_observed",
    sa.Column("stack_id", Uuid, primary_key=True),
    sa.Column("status", string(16), nullable=False),
    sa.Column("since", Time, nullable=False),
    sa.Column("observed_at", Time),
    sa.Column("due_at", Time, nullable=False, index=True),
    sa.Column("claim", Uuid, index=True),
    sa.Column("cursor", Uuid),
    sa.Column("blind", sa.Boolean, nullable=False),
    sa.Column("heals", sa.Integer, nullable=False),
    sa.Column("heals_since", Time),
    sa.Column("traversal_id", Uuid),
)

# What is really there, apart from what is wanted: written when it is not as it was found the last time.
# It holds as long as the resource's ``atomic_key`` is the one it was seen with.  ``kind`` is
# null of what is as it was made.
resource_observed = _table(
    "resource_observed",
    sa.Column("resource_id", Uuid, primary_key=True),
    sa.Column("stack_id", Uuid, nullable=False, index=True),
    sa.Column("atomic_key", BigInt, nullable=False),
    sa.Column("kind", string(16)),
    sa.Column("handling", string(8), nullable=False),
    sa.Column("digest", string(40), nullable=False),
    sa.Column("reason", LongText, nullable=False),
    sa.Column("observed_at", Time, nullable=False),
)

# How often a resource was healed, by name since healing may replace its row, in the hour after
# ``since``; ``tripped``: it did not stay healed, and is left alone.
resource_healing = _table(
    "resource_healing",
    sa.Column("stack_id", Uuid, primary_key=True),
    sa.Column("resource_name", string(255), primary_key=True),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("since", Time, nullable=False),
    sa.Column("tripped", sa.Boolean, nullable=False),
)

# The live values of the properties that are not as they were made.
resource_properties_observed = _table(
    "resource_properties_observed",
    sa.Column("stack_id", Uuid, primary_key=True),
    sa.Column("resource_name", string(255), primary_key=True),
    sa.Column("prop_name", string(255), primary_key=True),
    sa.Column("prop_value", Sealed),
)

# Where the events of a stack are delivered to, as its environment says, and how far that is: all up to
# ``cursor`` are, and those of ``event_sent``.  ``claim`` is whose turn it is, until ``due_at``;
# ``removed_at``, when the environment ceased to name it.  The row without a stack is the operator's, who
# wants the events of all.
event_sink = _table(
    "event_sink",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("stack_id", Uuid, index=True),
    sa.Column("spec", Sealed, nullable=False),
    sa.Column("cursor", BigInt, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("due_at", Time, nullable=False, index=True),
    sa.Column("claim", Uuid),
    sa.Column("removed_at", Time),
    row=("stack_id", "id"),
)

# What was delivered beyond the cursor: a transaction that is still open may have events with smaller ids.
event_sent = _table(
    "event_sent",
    sa.Column("sink_id", Uuid, primary_key=True),
    sa.Column("event_id", BigInt, primary_key=True, autoincrement=False),
    sa.Column("event_at", Time, nullable=False),
)

# What a plugin keeps of a resource that is too large, or too secret, for its row.
resource_data = _table(
    "resource_data",
    sa.Column("resource_id", Uuid, primary_key=True),
    sa.Column("key", string(255), primary_key=True),
    sa.Column("value", SealedText, nullable=False),
    sa.Column("redact", sa.Boolean, nullable=False),
)

# By what right daemons act for a root stack when its user is not there.  ``due_at`` is when it is to
# be given back; null as long as it is the one that the stack has.
user_creds = _table(
    "user_creds",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("stack_id", Uuid, nullable=False, index=True),
    sa.Column("project_id", string(64), nullable=False),
    sa.Column("user_id", string(64), nullable=False),
    sa.Column("method", string(32), nullable=False),
    sa.Column("secret", Sealed, nullable=False),
    sa.Column("due_at", Time, index=True),
    sa.Column("created_at", Time, nullable=False),
    row=("stack_id", "id"),
)

# A stack as it was at some moment.
snapshot = _table(
    "snapshot",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("stack_id", Uuid, nullable=False, index=True),
    sa.Column("name", string(255)),
    sa.Column("action", string(16), nullable=False),
    sa.Column("status", string(16), nullable=False),
    sa.Column("status_reason", LongText, nullable=False),
    sa.Column("data", Sealed),
    sa.Column("created_at", Time, nullable=False),
    row=("stack_id", "id"),
)

# What is to be run on servers, and its runs.
software_config = _table(
    "software_config",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("project_id", string(64), nullable=False),
    sa.Column("name", string(255)),
    sa.Column("group", string(255)),
    sa.Column("config", Sealed, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Index(None, "project_id", "created_at", "id"),
    row=("project_id", "id"),
)

software_deployment = _table(
    "software_deployment",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("project_id", string(64), nullable=False, index=True),
    sa.Column("stack_user_project_id", string(64), index=True),
    sa.Column("server_id", string(255), index=True),
    sa.Column("config_id", Uuid, nullable=False, index=True),
    sa.Column("input_values", Sealed),
    sa.Column("output_values", Sealed),
    sa.Column("action", string(16)),
    sa.Column("status", string(16)),
    sa.Column("status_reason", LongText),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("updated_at", Time),
    row=("project_id", "id"),
)

# Requests that were carried out, and what was answered; for as long as they may be asked again.
request = _table(
    "request",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("answer", Sealed, nullable=False),
    sa.Column("created_at", Time, nullable=False, index=True),
)

# What is written by whoever adds to the rows of a table, its ``kind``, that a project may have so many of.
quota = _table(
    "quota",
    sa.Column("project_id", string(64), primary_key=True),
    sa.Column("kind", string(32), primary_key=True),
    sa.Column("atomic_key", BigInt, nullable=False),
)
