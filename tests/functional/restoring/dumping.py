# SPDX-License-Identifier: Apache-2.0
"""Dumps of a database and their restore, by the tools that operators use."""

from __future__ import annotations

import subprocess
from pathlib import Path

import sqlalchemy as sa


def dump(url: str, path: Path) -> None:
    """Write a dump of a database into a file."""
    program = {"postgresql": "pg_dump", "mysql": "mariadb-dump --single-transaction"}
    with path.open("wb") as file:
        subprocess.run(_command(program, url), check=True, stdout=file)


def restore(path: Path, url: str) -> None:
    """Restore a dump into an empty database."""
    program = {"postgresql": "psql --quiet --set ON_ERROR_STOP=1", "mysql": "mariadb"}
    with path.open("rb") as file:
        subprocess.run(_command(program, url), check=True, stdin=file, stdout=subprocess.DEVNULL)


def _command(program: dict[str, str], url: str) -> list[str]:
    known = sa.make_url(url)
    kind = known.get_backend_name()
    if kind == "postgresql":
        plain = known.set(drivername="postgresql").render_as_string(hide_password=False)
        return [*program[kind].split(), plain]
    names = {"host": known.host, "port": known.port, "user": known.username, "password": known.password}
    options = [f"--{name}={value}" for name, value in names.items() if value is not None]
    if "unix_socket" in known.query:
        options.append(f"--socket={known.query['unix_socket']}")
    return [*program[kind].split(), *options, str(known.database)]
