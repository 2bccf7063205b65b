# SPDX-License-Identifier: Apache-2.0
"""Tables of what is wanted, of how far it is, and of who makes it so."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.plumbing.types import BigInt, Json, LongText, Sealed, SealedText, Time, Uuid, string
from heatconv.db.tables.declaring import table

# A template as posted.  Those before it are dropped when the traversal that applies it
# completes.  ``outputs`` (frozen) and ``parameters`` (as shown) spare reads the freezing.
# Its ``uuid`` is known before it has an id; null of what an earlier release has stored.
raw_template = table(
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

_DELETED = sa.text("deleted_at IS NOT NULL")  # so that PostgreSQL need not write an index for one that lives

# What a user calls one thing.  ``changed_by`` is the name of who asked for the current traversal.
# ``live_name`` is the name until the stack is deleted, then null: of the living, a project has one
# stack of a name.  ``guarded``: the environment of its template has guards.  ``last_dropped`` is the
# number of the last of its events that may have been dropped; null: none was.
stack = table(
    "stack",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("name", string(255), nullable=False),
    sa.Column("live_name", string(255)),
    sa.Column("project_id", string(64), nullable=False),
    sa.Column("user_id", string(64)),
    sa.Column("user_name", string(255)),
    sa.Column("changed_by", string(255)),
    sa.Column("guarded", sa.Boolean, nullable=False, server_default="0"),
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
    sa.Column("last_dropped", BigInt),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("updated_at", Time),
    sa.Column("deleted_at", Time),
    sa.UniqueConstraint("project_id", "live_name"),
    sa.Index(None, "project_id", "created_at", "id"),
    sa.Index(None, "status", "phase", "deadline"),
    sa.Index(None, "root_stack_id", "deleted_at"),
    sa.Index(None, "deleted_at", "id", postgresql_where=_DELETED),
)

stack_tag = table(
    "stack_tag",
    sa.Column("stack_id", Uuid, primary_key=True),
    sa.Column("tag", string(80), primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
)

# One row per physical incarnation: identity; desired; applied; made; the action on it.
# ``deletion_policy`` is that of the newest template that names the resource; null: its definition's.
# ``foreseen`` is what the plan that is applied lets a worker do with the row; null: no plan is.
resource = table(
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
    sa.Column("foreseen", Json),
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
graph_edge = table(
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
sync_point = table(
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
sync_point_input = table(
    "sync_point_input",
    sa.Column("traversal_id", Uuid, primary_key=True),
    sa.Column("resource_id", Uuid, primary_key=True),
    sa.Column("is_update", sa.Boolean, primary_key=True),
    sa.Column("sender_id", Uuid, primary_key=True),
    sa.Column("sender_is_update", sa.Boolean, primary_key=True),
    sa.Column("stack_id", Uuid, nullable=False, index=True),
    sa.Column("data", Sealed, nullable=False),
)

# Who is there.  ``updated_at`` is the last heartbeat, by the database's clock;
# ``backlog`` is how many messages it had taken then and not begun.  ``schema_revision`` and
# ``rpc_version`` are the newest that it knows; one of before 0019 does not say.
service = table(
    "service",
    sa.Column("engine_id", Uuid, primary_key=True),
    sa.Column("host", string(255), nullable=False),
    sa.Column("binary", string(64), nullable=False),
    sa.Column("topic", string(64), nullable=False),
    sa.Column("report_interval", sa.Integer, nullable=False),
    sa.Column("backlog", sa.Integer, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("updated_at", Time, nullable=False, index=True),
    sa.Column("release", string(32)),
    sa.Column("schema_revision", string(32)),
    sa.Column("rpc_version", string(32)),
)

# A row whose metadata say what a signal wishes of its nested stack, until that is carried out.
wish = table(
    "wish",
    sa.Column("resource_id", Uuid, primary_key=True),
    sa.Column("since", Time, nullable=False, index=True),
)

# What a plugin keeps of a resource that is too large, or too secret, for its row.
resource_data = table(
    "resource_data",
    sa.Column("resource_id", Uuid, primary_key=True),
    sa.Column("key", string(255), primary_key=True),
    sa.Column("value", SealedText, nullable=False),
    sa.Column("redact", sa.Boolean, nullable=False),
)

# By what right daemons act for a root stack when its user is not there.  ``due_at`` is when it is to
# be given back; null as long as it is the one that the stack has.
user_creds = table(
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
snapshot = table(
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

# What is written by whoever adds to the rows of a table, its ``kind``, that a project may have so many of.
quota = table(
    "quota",
    sa.Column("project_id", string(64), primary_key=True),
    sa.Column("kind", string(32), primary_key=True),
    sa.Column("atomic_key", BigInt, nullable=False),
)
