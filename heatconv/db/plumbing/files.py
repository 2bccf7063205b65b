# SPDX-License-Identifier: Apache-2.0
"""The files of an SQLite database: whoever may read them knows all that is in it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa

_OWNERS = 0o600
_BESIDE = ("", "-wal", "-shm", "-journal")


def keep_private(url: str | None) -> None:
    """See to it that a database's files are their owner's alone, those to come and those that are there.

    SQLite gives to the files beside it the mode of the database.  What is not ours to
    change stays as it is.
    """
    made = sa.make_url(url) if url else None
    if made is None or made.get_backend_name() != "sqlite":
        return
    if not made.database or made.database == ":memory:" or made.database.startswith("file:"):
        return
    with suppress(OSError):  # of a directory that is not there, or not ours: the connection will tell
        os.close(os.open(made.database, os.O_RDWR | os.O_CREAT, _OWNERS))
    for suffix in _BESIDE:
        with suppress(OSError):
            Path(made.database + suffix).chmod(_OWNERS)
