# SPDX-License-Identifier: Apache-2.0
"""Both sides of the bus keep to one contract: ``heatconv.rpc.engine_client``."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from heatconv.assembly.endpoints import serving_method
from heatconv.assembly.engine import Engine, EngineSettings
from heatconv.db.plumbing.session import Database
from heatconv.resources.registry import Registry
from heatconv.rpc.context import RequestContext
from heatconv.rpc.endpoint import Client, Endpoint, endpoint, endpoints_of
from heatconv.rpc.engine_client import EngineClient
from heatconv.testing.doorbell import NotedDoorbell
from heatconv.testing.keys import KEYRING

CONTEXT = RequestContext(project_id="ours")


@pytest.fixture(scope="module")
def engine() -> Engine:
    database = Database.from_url("sqlite://", KEYRING)
    return Engine(database, Registry.load(), NotedDoorbell(), EngineSettings(dead_after=60))


@pytest.mark.parametrize("declared", list(endpoints_of(EngineClient)), ids=lambda each: each.name)
def test_one_part_of_the_engine_takes_what_the_contract_declares(engine: Engine, declared: Endpoint) -> None:
    _context, *parameters = inspect.signature(serving_method(engine, declared.name)).parameters.values()
    taken = {each.name: (each.kind, each.default) for each in parameters}
    assert taken == {each.name: (each.kind, each.default) for each in declared.parameters.values()}


def test_whatever_is_public_in_the_contract_can_be_called() -> None:
    declared = {each.name for each in endpoints_of(EngineClient)}
    assert {name for name in vars(EngineClient) if not name.startswith("_")} == declared


def test_an_endpoint_that_no_part_or_several_answer_is_refused(engine: Engine) -> None:
    with pytest.raises(LookupError, match="make_coffee is to be answered by one part"):
        serving_method(engine, "make_coffee")
    engine.more = type(engine.types)(engine.types._registry)  # type: ignore[attr-defined]  # a second part
    with pytest.raises(LookupError, match="but 2 have it"):
        serving_method(engine, "show_resource_type")
    del engine.more  # type: ignore[attr-defined]  # as above


class Contract(Client):
    @endpoint(reads=True)
    def look(self, context: RequestContext, name: str, *, closely: bool = False) -> Any:
        """Look at something."""


class Noted:
    def call(self, context: RequestContext, method: str, **arguments: Any) -> Any:
        return context, method, arguments


def test_what_the_default_says_is_not_sent_to_who_may_not_know_it() -> None:
    client = Contract(Noted())
    assert client.look(CONTEXT, "a") == (CONTEXT, "look", {"name": "a"})
    assert client.look(CONTEXT, name="a", closely=False) == (CONTEXT, "look", {"name": "a"})
    assert client.look(CONTEXT, "a", closely=True) == (CONTEXT, "look", {"name": "a", "closely": True})


def test_an_argument_that_the_contract_does_not_have_is_refused_before_it_is_sent() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'twice'"):
        Contract(Noted()).look(CONTEXT, "a", twice=True)  # type: ignore[call-arg]  # what is tested
