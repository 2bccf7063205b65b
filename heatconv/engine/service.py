# SPDX-License-Identifier: Apache-2.0
"""An engine on the bus: the table of its endpoints, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from typing import Any

from heatconv import errors
from heatconv.db.session import Database
from heatconv.db.traversals import Started
from heatconv.engine.prepare import Preparer
from heatconv.engine.preview import Preview
from heatconv.engine.reads import Reads
from heatconv.engine.recovery import Recovery
from heatconv.engine.requests import Requests
from heatconv.resources.registry import Registry
from heatconv.rpc.bus import ENGINE_TOPIC, Bell, Bus
from heatconv.rpc.context import RequestContext
from heatconv.template import functions_of, versions

Method = Callable[..., Any]


class EngineService:
    """One engine: a server on the bus, and what it offers there."""

    def __init__(
        self,
        *,
        database: Database,
        registry: Registry,
        bus: Bus,
        engine_id: str,
        dead_after: float,
        threads: int,
        executor: str,
        default_timeout: int,
        max_template_size: int,
        max_stacks: int,
        max_resources: int,
        keep_events: int,
        ready_grace: float,
    ) -> None:
        self._bell = Bell(bus)
        # Ringing thousands of times takes seconds; who asked does not wait for it.
        self._ringers = ThreadPoolExecutor(max_workers=2, thread_name_prefix="ring")
        preparer = Preparer(
            database,
            registry,
            default_timeout=default_timeout,
            max_resources=max_resources,
            keep_events=keep_events,
        )
        requests = Requests(
            database=database,
            preparer=preparer,
            ring=self._ring,
            max_template_size=max_template_size,
            max_stacks=max_stacks,
        )
        self.recovery = Recovery(
            database=database,
            doorbell=self._bell,
            roll_back=requests.prepare_rollback,
            dead_after=dead_after,
            ready_grace=ready_grace,
        )
        parts = (
            requests,
            Reads(database, dead_after=dead_after),
            Preview(database=database, preparer=preparer, requests=requests, registry=registry),
        )
        methods = {name: _asked(getattr(part, name)) for part in parts for name in endpoints(part)}
        methods |= _types(registry)
        methods["prepare_rollback"] = lambda _context, stack_id: requests.prepare_rollback(stack_id)
        self._server = bus.serve(ENGINE_TOPIC, engine_id, methods, threads=threads, executor=executor)

    def stop(self) -> None:
        """Take no more requests, and finish those that run."""
        self._server.stop()
        self._server.wait()
        self._ringers.shutdown(wait=True, cancel_futures=True)

    def _ring(self, started: Started) -> None:
        self._ringers.submit(self._bell.ring, started.stack_id, started.traversal_id, started.leaves)


#: Which methods of a part can be called from the bus, by the part's class.
_ENDPOINTS: Mapping[type, tuple[str, ...]] = {
    Requests: (
        "create_stack",
        "update_stack",
        "delete_stack",
        "rollback_stack",
        "cancel_stack",
        "check_stack",
    ),
    Reads: (
        "identify_stack",
        "show_stack",
        "list_stacks",
        "get_template",
        "get_environment",
        "get_files",
        "list_outputs",
        "show_output",
        "show_graph",
        "list_resources",
        "show_resource",
        "list_events",
        "show_event",
        "list_services",
    ),
    Preview: ("preview_create", "preview_update", "validate_template"),
}


def endpoints(part: object) -> tuple[str, ...]:
    """Return the names of a part's endpoints."""
    return _ENDPOINTS[type(part)]


def _asked(method: Method) -> Method:
    """Let a method take the context as the bus carries it."""
    return lambda context, **arguments: method(RequestContext.from_dict(context), **arguments)


def _types(registry: Registry) -> dict[str, Method]:
    """Return the endpoints that tell what can be declared, and by what."""
    return {
        "list_resource_types": lambda _context, query: registry.list(query),
        "show_resource_type": lambda _context, type_name: registry.describe(type_name),
        "list_template_versions": lambda _context: [
            {"version": _PREFIX + version, "type": "hot", "aliases": [_PREFIX + alias for alias in aliases]}
            for version, aliases in versions()
        ],
        "list_template_functions": _template_functions,
        "get_revision": lambda _context: metadata.version("heatconv"),
    }


_PREFIX = "heat_template_version."


def _template_functions(_context: Any, version: str, with_conditions: bool) -> list[dict[str, str]]:
    known = {name for each, aliases in versions() for name in (each, *aliases)}
    if version.removeprefix(_PREFIX) not in known:
        raise errors.NotFound(entity="Template Version", name=version)
    listed = functions_of(version.removeprefix(_PREFIX), with_conditions)
    return [{"functions": name, "description": description} for name, description in listed]
