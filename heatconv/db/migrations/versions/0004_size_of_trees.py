# SPDX-License-Identifier: Apache-2.0
"""Where a stack is nested, and how many resources it wants: what a tree of stacks adds up to.

Revision: 0004.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_STACK = sa.table(
    "stack",
    sa.column("id"),
    sa.column("owner_resource_id"),
    sa.column("root_stack_id"),
    sa.column("nested_depth"),
    sa.column("size"),
)
_RESOURCE = sa.table("resource", sa.column("id"), sa.column("stack_id"), sa.column("desired_sha1"))


def upgrade() -> None:
    """Bring the schema from the one before to this one."""
    op.add_column("stack", sa.Column("root_stack_id", sa.String(length=36), nullable=True))
    op.add_column("stack", sa.Column("nested_depth", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("stack", sa.Column("size", sa.Integer(), nullable=False, server_default="0"))
    op.create_index(op.f("ix_stack_root_stack_id_deleted_at"), "stack", ["root_stack_id", "deleted_at"])
    _measure()


def _measure() -> None:
    wanted = (
        sa.select(sa.func.count())
        .where(_RESOURCE.c.stack_id == _STACK.c.id, _RESOURCE.c.desired_sha1.is_not(None))
        .scalar_subquery()
    )
    op.execute(_STACK.update().values(size=wanted))
    op.execute(_STACK.update().where(_STACK.c.owner_resource_id.is_(None)).values(root_stack_id=_STACK.c.id))
    connection, around = op.get_bind(), _STACK.alias()
    unplaced = (
        sa.select(_STACK.c.id, around.c.root_stack_id, around.c.nested_depth)
        .join(_RESOURCE, _RESOURCE.c.id == _STACK.c.owner_resource_id)
        .join(around, around.c.id == _RESOURCE.c.stack_id)
        .where(_STACK.c.root_stack_id.is_(None), around.c.root_stack_id.is_not(None))
    )
    while found := connection.execute(unplaced).all():  # from outside in, a level at a time
        for row in found:
            connection.execute(
                _STACK.update()
                .where(_STACK.c.id == row.id)
                .values(root_stack_id=row.root_stack_id, nested_depth=row.nested_depth + 1)
            )
