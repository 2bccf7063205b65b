# SPDX-License-Identifier: Apache-2.0
"""Servers for the functional tests.

``database_url``
    A fresh database with heatconv's schema, for each test, once on SQLite, once
    on PostgreSQL, once on MariaDB.  ``empty_database_url``: without the schema.
``fresh_database``
    Called with a kind (``sqlite``, ``postgresql``, ``mariadb``) it returns the
    URL of another; they last as long as the test.
``rabbit_url``
    The transport URL of a RabbitMQ virtual host of this run's own.
``endpoint``
    The URL of a running heatconv-all, the same one throughout the run: a test
    gives its stacks names of their own.  ``cloud_url`` is the fake cloud that the
    resource types of ``heatconv/testing/plugins`` live in there.
``run_daemons``
    Called as ``Daemons`` is, less the directory, it starts heatconv's daemons;
    they are killed after the test.

A server that cannot be had skips the tests that need it; with CI=true it fails
them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.functional.servers import schema
from tests.functional.servers.bus import own_bus
from tests.functional.servers.catalog import DATABASE_SERVERS, RABBITMQ
from tests.functional.servers.daemons import Daemons
from tests.functional.servers.databases import KINDS, Databases, Kind, MariaDB, PostgreSQL, Sqlite
from tests.functional.servers.one_process import fake_cloud, heatconv_all
from tests.functional.servers.provision import Server, Unavailable

ON_SERVER: Mapping[str, Callable[[str], Kind]] = {"postgresql": PostgreSQL, "mariadb": MariaDB}


class Servers:
    """The servers of this test run, each got hold of when first asked for."""

    def __init__(self, until: ExitStack) -> None:
        self._until = until
        self._had: dict[str, str | Unavailable] = {}

    def url(self, server: Server) -> str:
        """Return the URL of a server, or skip the test (fail it, in CI)."""
        if server.name not in self._had:
            try:
                self._had[server.name] = server.provide(self._until)
            except Unavailable as problem:
                self._had[server.name] = problem
        found = self._had[server.name]
        if isinstance(found, Unavailable):
            (pytest.fail if os.environ.get("CI") else pytest.skip)(str(found))
        return found


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    with ExitStack() as until:
        yield Servers(until)


@pytest.fixture(scope="session")
def databases(
    servers: Servers, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Databases]]:
    """Return the databases of a kind that this run makes."""
    made: dict[str, Databases] = {}
    with ExitStack() as until:

        def _kind(kind: str) -> Kind:
            if kind in ON_SERVER:
                return ON_SERVER[kind](servers.url(DATABASE_SERVERS[kind]))
            return Sqlite(tmp_path_factory.mktemp("sqlite"))

        def of_kind(kind: str) -> Databases:
            if kind not in made:
                made[kind] = Databases(_kind(kind), schema.migrate)
                until.callback(made[kind].close)
            return made[kind]

        yield of_kind


@pytest.fixture(params=KINDS)
def database_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def database_url(databases: Callable[[str], Databases], database_kind: str) -> Iterator[str]:
    url = databases(database_kind).fresh()
    yield url
    databases(database_kind).drop(url)


@pytest.fixture
def empty_database_url(databases: Callable[[str], Databases], database_kind: str) -> Iterator[str]:
    url = databases(database_kind).empty()
    yield url
    databases(database_kind).drop(url)


@pytest.fixture
def fresh_database(databases: Callable[[str], Databases]) -> Iterator[Callable[[str], str]]:
    with ExitStack() as until:

        def fresh(kind: str) -> str:
            url = databases(kind).fresh()
            until.callback(databases(kind).drop, url)
            return url

        yield fresh


@pytest.fixture(scope="session")
def rabbit_url(servers: Servers) -> Iterator[str]:
    with ExitStack() as until:
        yield own_bus(servers.url(RABBITMQ), until)


@pytest.fixture(scope="session")
def cloud_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with fake_cloud(tmp_path_factory.mktemp("cloud")) as url:
        yield url


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory, cloud_url: str) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("heatconv-all")
    (directory / "heatconv.conf").write_text(
        "[DEFAULT]\nenable_stack_abandon = true\nenable_stack_adopt = true\n"
    )
    with heatconv_all(directory, cloud_url, "--config-file", str(directory / "heatconv.conf")) as url:
        yield url


@pytest.fixture
def run_daemons(tmp_path: Path) -> Iterator[Callable[..., Daemons]]:
    with ExitStack() as until:

        def run(**arguments: Any) -> Daemons:
            return until.enter_context(Daemons(tmp_path, **arguments))

        yield run
