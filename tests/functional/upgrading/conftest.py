# SPDX-License-Identifier: Apache-2.0
"""The release to come, as far as that can be known: its schema adds something, then takes something away."""

from __future__ import annotations

import os
from contextlib import contextmanager

import pytest

from heatconv.db.plumbing import migration

EXPANDING, CONTRACTING = "next_expands", "next_contracts"

_REVISION = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, contracts = {revision!r}, {before!r}, {contracts!r}

def upgrade():
    {what}
"""


@pytest.fixture
def next_release(tmp_path, monkeypatch):
    """Return what a ``with`` does to be the release to come meanwhile, as far as the schema goes."""
    steps = (
        (
            EXPANDING,
            migration.newest(),
            False,
            'op.add_column("service", sa.Column("color", sa.String(8)))',
        ),
        (CONTRACTING, EXPANDING, True, 'op.drop_table("purge_turn")'),
    )
    for revision, before, contracts, what in steps:
        text = _REVISION.format(revision=revision, before=before, contracts=contracts, what=what)
        (tmp_path / f"{revision}.py").write_text(text)
    ours = migration.config

    def theirs():
        config = ours()
        config.set_main_option("version_locations", f"{migration._SCRIPTS}/versions{os.pathsep}{tmp_path}")
        return config

    @contextmanager
    def as_next():
        with monkeypatch.context() as patched:
            patched.setattr(migration, "config", theirs)
            migration._revisions.cache_clear()
            try:
                yield
            finally:
                migration._revisions.cache_clear()

    return as_next
