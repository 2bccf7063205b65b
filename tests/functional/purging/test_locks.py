# SPDX-License-Identifier: Apache-2.0
"""Nobody waits for a purge: no transaction of one holds a row of a living stack, or of its resources."""

from __future__ import annotations

import itertools
from contextlib import closing

import pytest
import sqlalchemy as sa

from heatconv.db.plumbing.session import Database
from heatconv.db.purging import deleted_stacks, leftovers
from heatconv.db.tables import raw_template, resource, resource_healing, stack, stack_observed
from tests.functional.purging.planted import LONG_AGO, add, add_all, add_stack


def plant(database):
    """Add stacks that a purge looks at, and those that these hang on."""
    for name, deleted_at in (("living", None), ("deleted", LONG_AGO), ("root", LONG_AGO)):
        add_all(database, name, deleted_at)
    add_all(database, "inside", root_stack_id="root")
    add(database, resource, id="held", stack_id="living", name="held", engine_id="w")
    add_stack(database, "waited for", LONG_AGO, owner_resource_id="held")
    add(database, raw_template, stack_id="living")
    add(database, stack_observed, stack_id="deleted long ago")
    add(database, resource_healing, stack_id="living", resource_name="gone")


@pytest.mark.parametrize("database_kind", ["postgresql", "mariadb"])
def test_no_row_of_what_lives_is_held(database, database_url):
    plant(database)
    held: list[tuple[str, str]] = []
    living = {
        stack: stack.c.deleted_at.is_(None),
        resource: resource.c.stack_id.in_(["living", "inside"]),
    }

    def look(_connection):
        with closing(Database.from_url(database_url)) as other, other.engine.connect() as connection:
            for table, lives in living.items():
                there = sa.select(table.c.id).where(lives)
                free = set(connection.scalars(there.with_for_update(skip_locked=True)))
                held.extend((table.name, each) for each in set(connection.scalars(there)) - free)

    commits: list[object] = []
    sa.event.listen(database.engine, "commit", look)
    sa.event.listen(database.engine, "commit", commits.append)
    for _ in itertools.chain(leftovers.sweep(database), deleted_stacks.purge(database, older_than=0)):
        pass

    assert len(commits) > 3
    assert held == []
