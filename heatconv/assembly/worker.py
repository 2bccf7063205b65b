# SPDX-License-Identifier: Apache-2.0
"""A worker, put together: the same for daemons, simulations, tests and benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heatconv.db.convergence.claimants import Claimants
from heatconv.db.plumbing.session import Database
from heatconv.db.software.configs import UNLIMITED, Quotas
from heatconv.resources.registry import Registry
from heatconv.rpc.doorbell import Doorbell
from heatconv.worker.act import Actor
from heatconv.worker.check import Checker
from heatconv.worker.engines import Engines
from heatconv.worker.plugin_factory import PluginFactory, SignalUrl, no_signal_url
from heatconv.worker.timer import Timer
from heatconv.worker.trees import Trees


@dataclass(frozen=True, kw_only=True)
class WorkerSettings:
    """Who a worker is, and what the operator says of all of them."""

    engine_id: str
    dead_after: float  #: seconds after which a silent lock holder is dead
    retry_limit: int = 0  #: how often what a create made broken is made anew
    client_retry_limit: int = 30  #: how often in a row a service may not take a call
    signal_url: SignalUrl = no_signal_url  #: where a signal to a stack's resource of some name can be sent
    software_quotas: Quotas = UNLIMITED  #: how many configs and deployments a project may have


class Worker:
    """What checks nodes, and the rows that it holds meanwhile."""

    def __init__(
        self,
        database: Database,
        registry: Registry,
        doorbell: Doorbell,
        timer: Timer,
        settings: WorkerSettings,
        *,
        may_act: Callable[[], bool] = lambda: True,
        spare_capacity: Callable[[str], int] = lambda _tree: 1,
        checks_at_once: Callable[[], int] = lambda: 1,
        engines: Engines | None = None,
    ) -> None:
        """Put the parts together; ``engines`` make nested stacks: None where there are none.

        For the other arguments see ``Checker`` and ``Actor``.
        """
        self.trees = Trees()
        factory = PluginFactory(
            database,
            registry,
            signal_url=settings.signal_url,
            software_quotas=settings.software_quotas,
            engines=engines,
        )
        actor = Actor(
            database,
            registry,
            factory,
            retry_limit=settings.retry_limit,
            client_retry_limit=settings.client_retry_limit,
            checks_at_once=checks_at_once,
        )
        self.checker = Checker(
            database=database,
            actor=actor,
            claimants=Claimants(settings.engine_id, dead_after=settings.dead_after, decide=actor.first_step),
            doorbell=doorbell,
            timer=timer,
            trees=self.trees,
            may_act=may_act,
            spare_capacity=spare_capacity,
        )
        self.held = self.checker.held
