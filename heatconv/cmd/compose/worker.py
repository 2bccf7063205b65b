# SPDX-License-Identifier: Apache-2.0
"""The worker."""

from __future__ import annotations

from heatconv.assembly.serving import Serving
from heatconv.assembly.worker import WorkerSettings
from heatconv.assembly.worker_service import WorkerService
from heatconv.cmd.compose import common
from heatconv.cmd.daemon import Daemon
from heatconv.metrics import types as metered_types
from heatconv.resources.registry import Registry


def start(daemon: Daemon, types: Registry, executor: str) -> WorkerService:
    """Start a worker."""
    common.bound_templates(daemon.conf)
    metered_types.name_each(types.names())
    settings = WorkerSettings(
        engine_id=daemon.engine_id,
        dead_after=daemon.dead_after,
        retry_limit=daemon.conf.action_retry_limit,
        client_retry_limit=daemon.conf.client_retry_limit,
        signal_url=common.signal_url(daemon),
        software_quotas=common.software_quotas(daemon.conf),
    )
    service = WorkerService(
        database=daemon.database,
        registry=types,
        bus=daemon.bus,
        settings=settings,
        serving=Serving(engine_id=daemon.engine_id, threads=daemon.conf.worker.threads, executor=executor),
        may_act=daemon.may_act,
    )
    daemon.backlog = service.backlog
    return service
