# SPDX-License-Identifier: Apache-2.0
"""An engine on the bus: the table of its endpoints, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from typing import Any

from heatconv import errors
from heatconv.db.convergence.traversals import Started
from heatconv.db.plumbing.session import Database
from heatconv.db.software.configs import UNLIMITED, Quotas
from heatconv.engine import once
from heatconv.engine.delegating import Authority, Delegating
from heatconv.engine.event_reads import EventReads
from heatconv.engine.lifecycle import Lifecycle
from heatconv.engine.plugin_access import SignalUrl
from heatconv.engine.prepare import Preparer
from heatconv.engine.preview import Preview
from heatconv.engine.reads import Reads
from heatconv.engine.recovery import Recovery
from heatconv.engine.requests import Requests
from heatconv.engine.resource_reads import ResourceReads
from heatconv.engine.signals import Signals
from heatconv.engine.software import Software
from heatconv.engine.types import Types
from heatconv.observer.drift_requests import DriftRequests
from heatconv.observer.healing import LIMITS, Healing, Limits
from heatconv.observer.notifications import Notifications
from heatconv.observer.observer import DEFAULTS, Defaults, Observer
from heatconv.observer.observing import Observing
from heatconv.resources.registry import Registry
from heatconv.rpc.bus import ENGINE_TOPIC, Bell, Bus
from heatconv.rpc.notifications import Listening
from heatconv.sinks.delivery import Delivery
from heatconv.template import functions_of, versions

Method = Callable[..., Any]

HELD = 2  #: calls that an engine which has stopped may sit on: the others go to one that runs


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
        max_depth: int,
        keep_events: int,
        ready_grace: float,
        signal_url: SignalUrl,
        delivery: Delivery,
        max_snapshots: int = -1,
        software_quotas: Quotas = UNLIMITED,
        operator_environment: Mapping[str, Any] | None = None,
        observation: Defaults = DEFAULTS,
        heal_limits: Limits = LIMITS,
        authority: Authority | None = None,
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
            operator_environment=operator_environment,
        )
        self.observer = Observer(
            database=database,
            observing=Observing(database, registry),
            healing=Healing(database=database, preparer=preparer, ring=self._ring, limits=heal_limits),
            defaults=observation,
            wake=self._bell.wake,
        )
        self.notifications = Notifications(self.observer.look_at, registry)
        self.delivery = delivery
        self.delegating = Delegating(database, authority)
        requests = Requests(
            database=database,
            preparer=preparer,
            ring=self._ring,
            max_template_size=max_template_size,
            max_stacks=max_stacks,
            max_depth=max_depth,
            wake=self._bell.wake,
            look_over=self.observer.look_over,
            sink_types=delivery.types,
            delegating=self.delegating,
        )
        signals = Signals(
            database=database,
            requests=requests,
            registry=registry,
            wake=self._bell.wake,
            signal_url=signal_url,
        )
        self.recovery = Recovery(
            database=database,
            doorbell=self._bell,
            roll_back=requests.prepare_rollback,
            dead_after=dead_after,
            ready_grace=ready_grace,
            carry_out=signals.carry_out,
        )
        parts = (
            requests,
            Lifecycle(
                database=database,
                preparer=preparer,
                requests=requests,
                registry=registry,
                ring=self._ring,
                max_snapshots=max_snapshots,
                look_after=self.observer.look_after,
            ),
            signals,
            Reads(database, dead_after=dead_after),
            ResourceReads(database, registry, signal_url),
            EventReads(database),
            Software(database=database, quotas=software_quotas, wake=self._bell.wake),
            Preview(database=database, preparer=preparer, requests=requests, registry=registry),
            Types(registry),
            DriftRequests(
                database=database,
                preparer=preparer,
                requests=requests,
                observer=self.observer,
                notifications=self.notifications,
                ring=self._ring,
            ),
        )
        methods = {
            name: once.endpoint(database, name, getattr(part, name))
            for part in parts
            for name in endpoints(part)
        }
        methods |= _asked_by_templates()
        methods["prepare_rollback"] = lambda _context, stack_id: requests.prepare_rollback(stack_id)
        self.listening: Listening | None = None  #: what gives ``notifications`` something to do, if anything
        self._server = bus.serve(
            ENGINE_TOPIC, engine_id, methods, threads=threads, executor=executor, held=HELD
        )

    def stop(self) -> None:
        """Take no more requests, and finish those that run."""
        if self.listening is not None:
            self.listening.stop()
        self.notifications.stop()
        self.observer.stop()
        self._server.stop()
        self._server.wait()
        self._ringers.shutdown(wait=True, cancel_futures=True)
        self.delivery.stop()

    def _ring(self, started: Started) -> None:
        self._ringers.submit(
            self._bell.ring, started.stack_id, started.traversal_id, started.leaves, started.tree
        )
        for row_id in started.left:  # few, if any, and nobody knows here which worker has them
            self._ringers.submit(self._bell.wake, row_id)


#: Which methods of a part can be called from the bus, by the part's class.
_ENDPOINTS: Mapping[type, tuple[str, ...]] = {
    Requests: (
        "create_stack",
        "update_stack",
        "rollback_stack",
        "cancel_stack",
    ),
    Lifecycle: (
        "suspend_stack",
        "resume_stack",
        "check_stack",
        "export_stack",
        "abandon_stack",
        "create_snapshot",
        "list_snapshots",
        "show_snapshot",
        "delete_snapshot",
        "restore_snapshot",
        "delete_stack",
    ),
    Signals: ("signal_resource", "mark_unhealthy"),
    Reads: (
        "identify_stack",
        "show_stack",
        "list_stacks",
        "get_template",
        "get_environment",
        "get_files",
        "list_outputs",
        "show_output",
        "list_services",
    ),
    ResourceReads: ("show_graph", "list_resources", "show_resource", "get_attribute", "get_metadata"),
    EventReads: ("list_events", "show_event"),
    Software: (
        "list_software_configs",
        "create_software_config",
        "show_software_config",
        "delete_software_config",
        "list_software_deployments",
        "list_deployed_configs",
        "create_software_deployment",
        "show_software_deployment",
        "update_software_deployment",
        "delete_software_deployment",
    ),
    Types: ("list_resource_types", "show_resource_type", "make_type_template"),
    Preview: ("preview_create", "preview_update", "validate_template"),
    DriftRequests: ("observe_stack", "converge_stack", "show_drift", "note_change"),
}


def endpoints(part: object) -> tuple[str, ...]:
    """Return the names of a part's endpoints."""
    return _ENDPOINTS[type(part)]


def _asked_by_templates() -> dict[str, Method]:
    """Return the endpoints that tell how things can be declared."""
    return {
        "list_template_versions": lambda _context: [
            {"version": name, "type": version.language, "aliases": aliases}
            for version in versions()
            for name, *aliases in [version.full_names]
        ],
        "list_template_functions": _template_functions,
        "get_revision": lambda _context: metadata.version("heatconv"),
    }


def _template_functions(_context: Any, version: str, with_conditions: bool) -> list[dict[str, str]]:
    if not any(version in each.full_names for each in versions()):
        raise errors.NotFound(entity="Template Version", name=version)
    listed = functions_of(version, with_conditions)
    return [{"functions": name, "description": description} for name, description in listed]
