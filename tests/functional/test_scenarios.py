# SPDX-License-Identifier: Apache-2.0
"""Every scenario on the real thing: an API, engines, three workers, RabbitMQ, each database, a cloud outside.

The simulator plays the same scenarios under many schedules; this keeps it honest.
``HEATCONV_SCENARIO_STRIDE=3`` plays each third on each database, others on each.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from heatconv.client.http import Client
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.real import RealWorld
from heatconv.testing.scenario import World, load
from tests.functional.servers.daemons import Daemons
from tests.functional.servers.databases import KINDS, Databases

SCENARIOS = load(Path(__file__).parents[1] / "scenarios")
NUMBERS = itertools.count(1)

STRIDE = int(os.environ.get("HEATCONV_SCENARIO_STRIDE", "1"))  #: from one scenario to the next on a database
PLAYED = [
    (kind, name) for number, kind in enumerate(KINDS) for name in [*SCENARIOS][number % STRIDE :: STRIDE]
]


@pytest.fixture(scope="module")
def daemons(
    request: pytest.FixtureRequest,
    databases: Callable[[str], Databases],
    rabbit_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Daemons]:
    """Run heatconv on one kind of database; its queues are its own."""
    url = databases(request.param).fresh()
    with ExitStack() as until:
        until.callback(databases(request.param).drop, url)
        yield until.enter_context(
            Daemons(
                tmp_path_factory.mktemp(f"daemons-{request.param}"),
                database_url=url,
                transport_url=rabbit_url,
                options={
                    "DEFAULT": {
                        "control_exchange": f"scenarios-{request.param}",
                        "enable_stack_abandon": True,
                    }
                },
            )
        )


@pytest.fixture
def world(daemons: Daemons) -> World:
    """Return a world whose cloud is empty, and whose stacks have names of their own."""
    control = CloudControl(daemons.cloud_url)
    control.reset()
    return RealWorld(Client(daemons.endpoint), control, prefix=f"s{next(NUMBERS)}-")


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("daemons", "name"), PLAYED, indirect=["daemons"], scope="module")
def test_scenario(world: World, daemons: Daemons, name: str) -> None:
    try:
        SCENARIOS[name](world)
    except AssertionError as error:
        error.add_note(daemons.logs())
        raise
