# SPDX-License-Identifier: Apache-2.0
"""Where chaos happens.

``--minutes N --seed S --database postgresql`` runs daemons through so many
minutes of it; without ``--minutes`` the stepper runs, and the daemons for a
short time.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.chaos.bench import Bench
from tests.functional.conftest import (  # noqa: F401 - fixtures
    databases,
    fresh_database,
    rabbit_url,
    run_daemons,
    servers,
)
from tests.functional.servers.databases import KINDS
from tests.functional.servers.provision import Unavailable

LINES = pytest.StashKey[list[str]]()


def pytest_addoption(parser):
    parser.addoption(
        "--database", choices=KINDS, help="run the stepper on (sqlite), or the daemons (postgresql)"
    )
    parser.addoption("--minutes", type=float, help="run nothing but the daemons, and for so long")
    parser.addoption("--seed", type=int, help="what the choices of that run follow from")
    parser.addoption("--restart-servers", action="store_true", help="cut database and bus off in it, too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--minutes") is not None:
        items[:] = [item for item in items if item.get_closest_marker("long_run")]


def pytest_configure(config):
    config.stash[LINES] = []
    config.addinivalue_line("markers", "long_run: what --minutes is for")


def pytest_terminal_summary(terminalreporter, config):
    if config.stash[LINES]:
        terminalreporter.section("chaos")
        terminalreporter.write_line("\n".join(config.stash[LINES]))


@pytest.fixture
def add_line(request):
    """Return a function that adds a line to what is printed in the end."""
    return request.config.stash[LINES].append


@pytest.fixture
def private():
    """Return a function that starts a private server of a class, with the options it is given."""
    with ExitStack() as until:

        def start(kind, *options):
            directory = Path(until.enter_context(TemporaryDirectory(prefix="heatconv-private-")))
            try:
                server = kind(directory, *options)
            except Unavailable as problem:
                (pytest.fail if os.environ.get("CI") else pytest.skip)(str(problem))
            until.callback(server.stop)
            server.start()
            return server

        yield start


@pytest.fixture(scope="session")
def bench(databases, request):  # noqa: F811 - the fixture
    on = databases(request.config.getoption("--database") or "sqlite")
    url = on.fresh()
    bench = Bench(url)
    yield bench
    bench.close()
    on.drop(url)
