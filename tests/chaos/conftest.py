# SPDX-License-Identifier: Apache-2.0
"""Where chaos happens: ``--database`` names the kind of database that the stepper runs on."""

from __future__ import annotations

import pytest

from tests.chaos.bench import Bench
from tests.functional.conftest import databases, rabbit_url, servers  # noqa: F401 - fixtures
from tests.functional.servers.databases import KINDS

TOLD = pytest.StashKey[list[str]]()


def pytest_addoption(parser):
    parser.addoption("--database", choices=KINDS, default="sqlite", help="what the stepper runs on")


def pytest_configure(config):
    config.stash[TOLD] = []


def pytest_terminal_summary(terminalreporter, config):
    if config.stash[TOLD]:
        terminalreporter.section("chaos")
        terminalreporter.write_line("\n".join(config.stash[TOLD]))


@pytest.fixture
def tell(request):
    """Return a function that adds a line to what is printed in the end."""
    return request.config.stash[TOLD].append


@pytest.fixture(scope="session")
def bench(databases, request):  # noqa: F811 - the fixture
    on = databases(request.config.getoption("--database"))
    url = on.fresh()
    bench = Bench(url)
    yield bench
    bench.close()
    on.drop(url)
