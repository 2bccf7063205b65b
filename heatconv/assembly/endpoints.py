# SPDX-License-Identifier: Apache-2.0
"""What an engine answers to on the bus: the contract, and which of its parts keeps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from heatconv.assembly.engine import Engine
from heatconv.db.plumbing.session import Database
from heatconv.engine import once
from heatconv.rpc.endpoint import endpoints_of
from heatconv.rpc.engine_client import EngineClient

Method = Callable[..., Any]


def endpoints(engine: Engine, database: Database) -> dict[str, Method]:
    """Return what can be called from the bus, by name; each request is carried out once."""
    called = {
        each.name: once.endpoint(database, serving_method(engine, each.name), reads=each.reads)
        for each in endpoints_of(EngineClient)
    }
    # Cast by workers and engines, to whichever engine takes it.
    cast = {"prepare_rollback": lambda _context, stack_id: engine.requests.prepare_rollback(stack_id)}
    return {**called, **cast}


def serving_method(engine: Engine, name: str) -> Method:
    """Return the method of the one part of an engine that answers to an endpoint.

    Raises:
        LookupError: no part has it, or several have.
    """
    found = [part for part in vars(engine).values() if hasattr(type(part), name)]
    if len(found) != 1:
        raise LookupError(f"{name} is to be answered by one part of the engine, but {len(found)} have it")
    method: Method = getattr(found[0], name)
    return method
