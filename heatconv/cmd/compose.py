# SPDX-License-Identifier: Apache-2.0
"""How the parts of each service are put together from a daemon and its configuration."""

from __future__ import annotations

import pathlib

from cheroot import wsgi

from heatconv.api import deploy
from heatconv.cmd.daemon import Daemon
from heatconv.engine.service import EngineService
from heatconv.resources.registry import Registry
from heatconv.rpc.bus import Bus, EngineCaller
from heatconv.rpc.engine_client import EngineClient
from heatconv.worker.service import WorkerService


def registry(daemon: Daemon) -> Registry:
    """Return the resource types that are installed, and those of the plugin directories."""
    return Registry.load([path for path in daemon.conf.plugin_dirs if pathlib.Path(path).is_dir()])


def engine(daemon: Daemon, types: Registry, executor: str) -> EngineService:
    """Start an engine and its recovery tick."""
    conf = daemon.conf
    service = EngineService(
        database=daemon.database,
        registry=types,
        bus=daemon.bus,
        engine_id=daemon.engine_id,
        dead_after=daemon.dead_after,
        threads=conf.engine.threads,
        executor=executor,
        default_timeout=conf.stack_action_timeout,
        max_template_size=conf.max_template_size,
        max_stacks=conf.max_stacks_per_tenant,
        max_resources=conf.max_resources_per_stack,
        keep_events=conf.max_events_per_stack,
        ready_grace=conf.ready_grace,
    )
    daemon.every(conf.recovery_interval, service.recovery.tick)
    return service


def worker(daemon: Daemon, types: Registry, executor: str) -> WorkerService:
    """Start a worker."""
    service = WorkerService(
        database=daemon.database,
        registry=types,
        bus=daemon.bus,
        engine_id=daemon.engine_id,
        dead_after=daemon.dead_after,
        retry_limit=daemon.conf.action_retry_limit,
        client_retry_limit=daemon.conf.client_retry_limit,
        threads=daemon.conf.worker.threads,
        executor=executor,
        may_act=daemon.may_act,
    )
    daemon.backlog = service.backlog
    return service


class ApiService:
    """The REST API on its own threads."""

    def __init__(self, conf: object, bus: Bus, *, shared: bool = False) -> None:
        """Listen; ``shared`` lets other processes listen on the same port too."""
        application = deploy.application(EngineClient(EngineCaller(bus)), conf)  # type: ignore[arg-type]  # ConfigOpts is untyped
        options = conf.api  # type: ignore[attr-defined]  # as above
        self._server = wsgi.Server(
            (str(options.host), options.port),
            application,
            numthreads=options.threads,
            max=options.threads,
            request_queue_size=128,
            shutdown_timeout=2,
            reuse_port=shared,
        )
        self._server.prepare()

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        host, port = self._server.bind_addr[:2]
        return str(host), int(port)

    def serve(self) -> None:
        """Serve until stopped."""
        self._server.serve()

    def stop(self) -> None:
        """Take no more requests, and finish those that run."""
        self._server.stop()
