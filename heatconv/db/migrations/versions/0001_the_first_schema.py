# SPDX-License-Identifier: Apache-2.0
"""The first schema.

Revision: 0001.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0001"
down_revision = None

LONG = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Bring the schema from the one before to this one."""
    op.create_table(
        "event",
        sa.Column("id", BIG, nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("resource_id", sa.String(length=36), nullable=True),
        sa.Column("resource_name", sa.String(length=255), nullable=False),
        sa.Column("resource_type", sa.String(length=255), nullable=False),
        sa.Column("physical_id", sa.String(length=255), nullable=True),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("status_reason", LONG, nullable=False),
        sa.Column("properties", LONG, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
        sa.UniqueConstraint("uuid", name=op.f("uq_event_uuid")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("event", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_event_stack_id_id"), ["stack_id", "id"], unique=False)

    op.create_table(
        "graph_edge",
        sa.Column("traversal_id", sa.String(length=36), nullable=False),
        sa.Column("resource_id", sa.String(length=36), nullable=False),
        sa.Column("is_update", sa.Boolean(), nullable=False),
        sa.Column("needed_by_id", sa.String(length=36), nullable=False),
        sa.Column("needed_by_is_update", sa.Boolean(), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.PrimaryKeyConstraint(
            "traversal_id",
            "resource_id",
            "is_update",
            "needed_by_id",
            "needed_by_is_update",
            name=op.f("pk_graph_edge"),
        ),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("graph_edge", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_graph_edge_stack_id"), ["stack_id"], unique=False)

    op.create_table(
        "raw_template",
        sa.Column("id", BIG, nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=True),
        sa.Column("predecessor_id", BIG, nullable=True),
        sa.Column("template", LONG, nullable=False),
        sa.Column("environment", LONG, nullable=False),
        sa.Column("files", LONG, nullable=False),
        sa.Column("outputs", LONG, nullable=False),
        sa.Column("parameters", LONG, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_raw_template")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("raw_template", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_raw_template_stack_id"), ["stack_id"], unique=False)

    op.create_table(
        "resource",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("type", sa.String(length=255), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("replaces", sa.String(length=36), nullable=True),
        sa.Column("replaced_by", sa.String(length=36), nullable=True),
        sa.Column("desired", LONG, nullable=True),
        sa.Column("desired_sha1", sa.String(length=40), nullable=True),
        sa.Column("wanted_attributes", LONG, nullable=False),
        sa.Column("applied", LONG, nullable=True),
        sa.Column("applied_sha1", sa.String(length=40), nullable=True),
        sa.Column("applied_template_id", BIG, nullable=True),
        sa.Column("requires", LONG, nullable=False),
        sa.Column("physical_id", sa.String(length=255), nullable=True),
        sa.Column("reference_id", LONG, nullable=True),
        sa.Column("attributes", LONG, nullable=False),
        sa.Column("output_version", sa.Integer(), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("status_reason", LONG, nullable=False),
        sa.Column("engine_id", sa.String(length=36), nullable=True),
        sa.Column("atomic_key", BIG, nullable=False),
        sa.Column("progress", LONG, nullable=True),
        sa.Column("metadata", LONG, nullable=False),
        sa.Column("data", LONG, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_resource")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("resource", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_resource_engine_id"), ["engine_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_resource_physical_id"), ["physical_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_resource_stack_id_name"), ["stack_id", "name"], unique=False)

    op.create_table(
        "resource_data",
        sa.Column("resource_id", sa.String(length=36), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("value", LONG, nullable=False),
        sa.Column("redact", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("resource_id", "key", name=op.f("pk_resource_data")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    op.create_table(
        "resource_observed",
        sa.Column("resource_id", sa.String(length=36), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("exists", sa.Boolean(), nullable=False),
        sa.Column("differs", sa.Boolean(), nullable=False),
        sa.Column("observed_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("resource_id", name=op.f("pk_resource_observed")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("resource_observed", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_resource_observed_stack_id"), ["stack_id"], unique=False)

    op.create_table(
        "resource_properties_observed",
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("resource_name", sa.String(length=255), nullable=False),
        sa.Column("prop_name", sa.String(length=255), nullable=False),
        sa.Column("prop_value", LONG, nullable=True),
        sa.PrimaryKeyConstraint(
            "stack_id", "resource_name", "prop_name", name=op.f("pk_resource_properties_observed")
        ),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    op.create_table(
        "service",
        sa.Column("engine_id", sa.String(length=36), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("binary", sa.String(length=64), nullable=False),
        sa.Column("topic", sa.String(length=64), nullable=False),
        sa.Column("report_interval", sa.Integer(), nullable=False),
        sa.Column("backlog", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("engine_id", name=op.f("pk_service")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("service", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_service_updated_at"), ["updated_at"], unique=False)

    op.create_table(
        "snapshot",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=True),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("status_reason", LONG, nullable=False),
        sa.Column("data", LONG, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshot")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("snapshot", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_snapshot_stack_id"), ["stack_id"], unique=False)

    op.create_table(
        "software_config",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=True),
        sa.Column("group", sa.String(length=255), nullable=True),
        sa.Column("config", LONG, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_software_config")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("software_config", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_software_config_project_id_created_at_id"),
            ["project_id", "created_at", "id"],
            unique=False,
        )

    op.create_table(
        "software_deployment",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=64), nullable=False),
        sa.Column("stack_user_project_id", sa.String(length=64), nullable=True),
        sa.Column("server_id", sa.String(length=255), nullable=True),
        sa.Column("config_id", sa.String(length=36), nullable=False),
        sa.Column("input_values", LONG, nullable=True),
        sa.Column("output_values", LONG, nullable=True),
        sa.Column("action", sa.String(length=16), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=True),
        sa.Column("status_reason", LONG, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_software_deployment")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("software_deployment", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_software_deployment_config_id"), ["config_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_software_deployment_project_id"), ["project_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_software_deployment_server_id"), ["server_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_software_deployment_stack_user_project_id"),
            ["stack_user_project_id"],
            unique=False,
        )

    op.create_table(
        "stack",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("live_name", sa.String(length=255), nullable=True),
        sa.Column("project_id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=64), nullable=True),
        sa.Column("user_name", sa.String(length=255), nullable=True),
        sa.Column("owner_resource_id", sa.String(length=36), nullable=True),
        sa.Column("description", LONG, nullable=False),
        sa.Column("raw_template_id", BIG, nullable=False),
        sa.Column("prev_raw_template_id", BIG, nullable=True),
        sa.Column("current_traversal", sa.String(length=36), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("status_reason", LONG, nullable=False),
        sa.Column("phase", sa.String(length=16), nullable=False),
        sa.Column("disable_rollback", sa.Boolean(), nullable=False),
        sa.Column("timeout_mins", sa.Integer(), nullable=True),
        sa.Column("deadline", TIME, nullable=True),
        sa.Column("policy", LONG, nullable=True),
        sa.Column("atomic_key", BIG, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=True),
        sa.Column("deleted_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stack")),
        sa.UniqueConstraint("project_id", "live_name", name=op.f("uq_stack_project_id_live_name")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("stack", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_stack_owner_resource_id"), ["owner_resource_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_stack_project_id_created_at_id"), ["project_id", "created_at", "id"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_stack_status_phase_deadline"), ["status", "phase", "deadline"], unique=False
        )

    op.create_table(
        "stack_tag",
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("tag", sa.String(length=80), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("stack_id", "tag", name=op.f("pk_stack_tag")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    op.create_table(
        "sync_point",
        sa.Column("traversal_id", sa.String(length=36), nullable=False),
        sa.Column("resource_id", sa.String(length=36), nullable=False),
        sa.Column("is_update", sa.Boolean(), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("acts_on", sa.String(length=36), nullable=True),
        sa.Column("join_for", sa.String(length=36), nullable=True),
        sa.Column("required", sa.Integer(), nullable=False),
        sa.Column("satisfied", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("ready_at", TIME, nullable=True),
        sa.Column("atomic_key", BIG, nullable=False),
        sa.PrimaryKeyConstraint("traversal_id", "resource_id", "is_update", name=op.f("pk_sync_point")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("sync_point", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sync_point_acts_on"), ["acts_on"], unique=False)
        batch_op.create_index(batch_op.f("ix_sync_point_stack_id"), ["stack_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_sync_point_state_ready_at"), ["state", "ready_at"], unique=False)

    op.create_table(
        "sync_point_input",
        sa.Column("traversal_id", sa.String(length=36), nullable=False),
        sa.Column("resource_id", sa.String(length=36), nullable=False),
        sa.Column("is_update", sa.Boolean(), nullable=False),
        sa.Column("sender_id", sa.String(length=36), nullable=False),
        sa.Column("sender_is_update", sa.Boolean(), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("data", LONG, nullable=False),
        sa.PrimaryKeyConstraint(
            "traversal_id",
            "resource_id",
            "is_update",
            "sender_id",
            "sender_is_update",
            name=op.f("pk_sync_point_input"),
        ),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("sync_point_input", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sync_point_input_stack_id"), ["stack_id"], unique=False)

    op.create_table(
        "user_creds",
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=64), nullable=True),
        sa.Column("trust_id", sa.String(length=255), nullable=True),
        sa.Column("secret", LONG, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("stack_id", name=op.f("pk_user_creds")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
