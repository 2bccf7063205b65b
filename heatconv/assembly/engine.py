# SPDX-License-Identifier: Apache-2.0
"""An engine, put together: the same for daemons, simulations, tests and benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heatconv.db.convergence.traversals import Started
from heatconv.db.plumbing.session import Database
from heatconv.db.software.configs import UNLIMITED, Quotas
from heatconv.engine.changing import Changing
from heatconv.engine.delegating import Authority, Delegating
from heatconv.engine.event_reads import EventReads
from heatconv.engine.explaining import Explaining
from heatconv.engine.freezer import Freezer
from heatconv.engine.languages import Languages
from heatconv.engine.lifecycle import Lifecycle
from heatconv.engine.nested_creation import NestedCreation
from heatconv.engine.picturing import Picturing
from heatconv.engine.plugin_access import SignalUrl
from heatconv.engine.posted_sources import PostedSources
from heatconv.engine.prepare import Preparer
from heatconv.engine.purging import FOREVER, Purging, Retention
from heatconv.engine.reads import Reads
from heatconv.engine.recovery import Recovery
from heatconv.engine.requests import Requests, Ring
from heatconv.engine.resource_reads import ResourceReads
from heatconv.engine.signalled_plugins import SignalledPlugins
from heatconv.engine.signals import Signals
from heatconv.engine.software import Software
from heatconv.engine.stack_quotas import StackQuotas
from heatconv.engine.types import Types
from heatconv.engine.validation import Validation
from heatconv.observer.drift_requests import DriftRequests
from heatconv.observer.healing import LIMITS, Healing, Limits
from heatconv.observer.notifications import Notifications
from heatconv.observer.observer import Observer
from heatconv.observer.observing import Observing
from heatconv.observer.policies import DEFAULTS, Defaults
from heatconv.observer.restored import Restored
from heatconv.plans.inside import Means
from heatconv.plans.plans import BOUNDS, Bounds, Plans
from heatconv.plans.preview import Preview
from heatconv.resources.registry import Registry
from heatconv.rpc.doorbell import Doorbell
from heatconv.sinks.types import SinkTypes
from heatconv.worker.plugin_factory import no_signal_url


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """What the operator says of all engines; of a number of things, a negative one is any number."""

    dead_after: float  #: seconds without a heartbeat after which a daemon is dead
    ready_grace: float = 0.0  #: seconds that a node may be READY before it is rung for again
    default_timeout: int = 3600  #: seconds that a stack gets that names no timeout
    max_template_size: int = 1 << 20  #: bytes of a template, with its files
    max_stacks: int = -1  #: in a project
    max_resources: int = -1  #: in a tree of stacks
    max_depth: int = 5  #: of a tree of stacks
    max_snapshots: int = -1  #: of a stack
    keep_events: int = -1  #: of a stack
    software_quotas: Quotas = UNLIMITED
    signal_url: SignalUrl = no_signal_url  #: where a signal to a stack's resource of some name can be sent
    operator_environment: Mapping[str, Any] = field(default_factory=dict)
    observation: Defaults = DEFAULTS
    heal_limits: Limits = LIMITS
    plans: Bounds = BOUNDS
    retention: Retention = FOREVER


class Engine:
    """Everything that users ask for, and what goes on without being asked."""

    freezer_type = Freezer

    def __init__(
        self,
        database: Database,
        registry: Registry,
        doorbell: Doorbell,
        settings: EngineSettings,
        *,
        ring: Ring | None = None,
        sink_types: SinkTypes | None = None,
        authority: Authority | None = None,
    ) -> None:
        """Put the parts together.

        Args:
            ring: rings for what a traversal begins with, if it is not done at once.
            sink_types: where events may be sent.
            authority: by whom users delegate what stacks need; None where there is nothing to delegate.
        """
        self._doorbell = doorbell
        ring = ring or self.ring
        freezer = self.freezer_type(database, registry, settings.operator_environment)
        quotas = StackQuotas(
            database,
            max_stacks=settings.max_stacks,
            max_resources=settings.max_resources,
            max_depth=settings.max_depth,
        )
        sources = PostedSources(
            freezer, sink_types or SinkTypes(), max_template_size=settings.max_template_size
        )
        self.preparer = Preparer(
            database,
            freezer,
            quotas,
            default_timeout=settings.default_timeout,
            keep_events=settings.keep_events,
        )
        healing = Healing(database=database, preparer=self.preparer, ring=ring, limits=settings.heal_limits)
        self.observer = Observer(
            database=database,
            observing=Observing(database, registry),
            healing=healing,
            defaults=settings.observation,
            wake=doorbell.wake,
        )
        self.notifications = Notifications(self.observer.look_at, registry)
        self.delegating = Delegating(database, authority)
        self.requests = Requests(
            database=database,
            preparer=self.preparer,
            sources=sources,
            quotas=quotas,
            ring=ring,
            wake=doorbell.wake,
            look_over=self.observer.look_over,
            delegating=self.delegating,
        )
        self.nested_creation = NestedCreation(
            database=database, preparer=self.preparer, sources=sources, quotas=quotas, ring=ring
        )
        self.signals = Signals(
            database=database,
            plugins=SignalledPlugins(
                database=database,
                requests=self.requests,
                registry=registry,
                signal_url=settings.signal_url,
            ),
            wake=doorbell.wake,
        )
        self.recovery = Recovery(
            database=database,
            doorbell=doorbell,
            roll_back=self.requests.prepare_rollback,
            dead_after=settings.dead_after,
            ready_grace=settings.ready_grace,
            carry_out=self.signals.carry_out,
        )
        self.purging = Purging(database, settings.retention, keep_events=settings.keep_events)
        self.lifecycle = Lifecycle(
            database=database,
            freezer=freezer,
            preparer=self.preparer,
            requests=self.requests,
            registry=registry,
            ring=ring,
            max_snapshots=settings.max_snapshots,
            look_after=self.observer.look_after,
        )
        self.reads = Reads(database, dead_after=settings.dead_after)
        self.resource_reads = ResourceReads(database, registry, settings.signal_url)
        self.event_reads = EventReads(database)
        self.changing = Changing(database)
        self.picturing = Picturing(database)
        self.explaining = Explaining(database, registry, dead_after=settings.dead_after)
        self.software = Software(database=database, quotas=settings.software_quotas, wake=doorbell.wake)
        means = Means(database=database, registry=registry, freezer=freezer, sources=sources, quotas=quotas)
        self.preview = Preview(means)
        self.validation = Validation(freezer=freezer, sources=sources, quotas=quotas, registry=registry)
        self.plans = Plans(
            means,
            preparer=self.preparer,
            requests=self.requests,
            delete=self.lifecycle.begin_deletion,
            bounds=settings.plans,
            look=self.observer.has_drifted,
        )
        self.requests.guard = healing.guard = self.plans.guarding
        self.types = Types(registry)
        self.languages = Languages()
        self.drift_requests = DriftRequests(
            database=database,
            preparer=self.preparer,
            observer=self.observer,
            notifications=self.notifications,
            defaults=settings.observation,
            ring=ring,
            guard=self.plans.guarding,
        )
        self.restored = Restored(
            database,
            observe=self.drift_requests.observe_stack,
            converge=self.drift_requests.converge_stack,
        )

    def ring(self, started: Started) -> None:
        """Ring for what a traversal begins with."""
        self._doorbell.ring(started.stack_id, started.traversal_id, started.leaves, started.tree)
        for row_id in started.left:  # few, if any, and nobody knows here which worker has them
            self._doorbell.wake(row_id)
