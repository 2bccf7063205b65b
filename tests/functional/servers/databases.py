# SPDX-License-Identifier: Apache-2.0
"""Fresh databases: one a test, with heatconv's schema, of each kind.

The schema is migrated once for each kind and run, into a template that the
others are copied from.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa

KINDS = ("sqlite", "postgresql", "mariadb")


def _name() -> str:
    return f"heatconv_test_{secrets.token_hex(6)}"


class Kind(Protocol):
    """How databases of one kind come and go; each is told by its URL."""

    def create(self) -> str:
        """Return a new, empty database."""

    def copy(self, template: str) -> str:
        """Return a new database with the tables and rows of another."""

    def drop(self, url: str) -> None:
        """Remove a database, whoever is still connected."""


@dataclass(frozen=True)
class Sqlite:
    """Files in a directory."""

    directory: Path

    def create(self) -> str:
        """See Kind."""
        return f"sqlite:///{self.directory / _name()}.sqlite"

    def copy(self, template: str) -> str:
        """See Kind."""
        url = self.create()
        shutil.copy(_file(template), _file(url))
        return url

    def drop(self, url: str) -> None:
        """See Kind."""
        for suffix in ("", "-wal", "-shm"):
            Path(_file(url) + suffix).unlink(missing_ok=True)


def _file(url: str) -> str:
    return str(sa.make_url(url).database)


class _OnServer:
    """What the servers have in common."""

    def __init__(self, server: str) -> None:
        self._server = sa.make_url(server)
        self._engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")

    def create(self) -> str:
        """See Kind."""
        return self._create(f"CREATE DATABASE {{}} {self.settings}")

    settings = ""

    def _create(self, statement: str) -> str:
        name = _name()
        self._run(statement.format(name))
        return self._server.set(database=name).render_as_string(hide_password=False)

    def _run(self, *statements: str) -> None:
        with self._engine.connect() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)


class PostgreSQL(_OnServer):
    """Databases of a PostgreSQL server, which copies them itself."""

    def copy(self, template: str) -> str:
        """See Kind."""
        return self._create(f"CREATE DATABASE {{}} TEMPLATE {sa.make_url(template).database}")

    def drop(self, url: str) -> None:
        """See Kind."""
        self._run(f"DROP DATABASE IF EXISTS {sa.make_url(url).database} WITH (FORCE)")


class MariaDB(_OnServer):
    """Databases of a MariaDB or MySQL server."""

    settings = "CHARACTER SET utf8mb4"

    def copy(self, template: str) -> str:
        """See Kind."""
        url = self.create()
        source, name = (sa.make_url(each).database for each in (template, url))
        with self._engine.connect() as connection:
            tables = connection.scalars(sa.text(f"SHOW TABLES FROM {source}")).all()
        for table in tables:
            fresh, old = f"{name}.`{table}`", f"{source}.`{table}`"
            self._run(f"CREATE TABLE {fresh} LIKE {old}", f"INSERT INTO {fresh} SELECT * FROM {old}")
        return url

    def drop(self, url: str) -> None:
        """See Kind."""
        self._run(f"DROP DATABASE IF EXISTS {sa.make_url(url).database}")


@dataclass
class Databases:
    """The databases of one kind that this test run made."""

    kind: Kind
    migrate: Callable[[str], None]  #: brings the database at a URL to the newest schema
    _urls: list[str] = field(default_factory=list)

    def empty(self) -> str:
        """Return the URL of a database without a table."""
        return self._keep(self.kind.create())

    def fresh(self) -> str:
        """Return the URL of a database with heatconv's schema and no stack."""
        return self._keep(self.kind.copy(self._template))

    def drop(self, url: str) -> None:
        """Remove a database."""
        self._urls.remove(url)
        self.kind.drop(url)

    def close(self) -> None:
        """Remove every database that is left."""
        for url in list(self._urls):
            self.drop(url)

    @cached_property
    def _template(self) -> str:
        url = self.empty()
        self.migrate(url)
        return url

    def _keep(self, url: str) -> str:
        self._urls.append(url)
        return url
