# SPDX-License-Identifier: Apache-2.0
"""How the parts of each service are put together from a daemon and its configuration."""

from __future__ import annotations

import pathlib
import socket
from collections.abc import Callable

from cheroot import wsgi
from oslo_config import cfg

from heatconv import errors
from heatconv.api import deploy
from heatconv.api.auth import Strategy
from heatconv.cmd.daemon import Daemon
from heatconv.crypto import Keyring
from heatconv.db.software_configs import Quotas
from heatconv.engine import operator_environment
from heatconv.engine.delivery import Delivery
from heatconv.engine.healing import Limits
from heatconv.engine.notifications import TOGETHER
from heatconv.engine.observer import Defaults
from heatconv.engine.service import EngineService
from heatconv.model.drift import Mode
from heatconv.model.records import Stack
from heatconv.resources.registry import Registry
from heatconv.rpc.bus import Bus, EngineCaller
from heatconv.rpc.engine_client import EngineClient
from heatconv.rpc.notifications import Listening
from heatconv.signing import Signer
from heatconv.sinks.types import SinkTypes
from heatconv.sinks.webhook import Rules
from heatconv.template import limits
from heatconv.worker.service import WorkerService


def registry(daemon: Daemon) -> Registry:
    """Return the resource types that are installed, and those of the plugin directories."""
    return Registry.load([path for path in daemon.conf.plugin_dirs if pathlib.Path(path).is_dir()])


def limit_queries(conf: cfg.ConfigOpts) -> None:
    """Set what queries in templates may do, for this process; they are made by engines and by workers."""
    limits.YAQL.iterators = conf.yaql.limit_iterators
    limits.YAQL.memory = conf.yaql.memory_quota


def engine(daemon: Daemon, types: Registry, executor: str) -> EngineService:
    """Start an engine and its recovery tick."""
    conf = daemon.conf
    limit_queries(conf)
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
        max_depth=conf.max_nested_stack_depth,
        keep_events=conf.max_events_per_stack,
        ready_grace=conf.ready_grace,
        signal_url=signal_url(daemon),
        delivery=_delivery(daemon),
        software_quotas=_software_quotas(conf),
        max_snapshots=conf.max_snapshots_per_stack,
        operator_environment=operator_environment.load(conf.environment_dir),
        observation=Defaults(
            mode=Mode(conf.observer.policy), interval=conf.observer.interval, portion=conf.observer.portion
        ),
        heal_limits=Limits(
            per_hour=conf.observer.max_heals_per_hour,
            per_resource=conf.observer.max_heals_per_resource,
            percent=conf.observer.heal_percent,
        ),
    )
    daemon.every(conf.recovery_interval, service.recovery.tick)
    daemon.every(conf.observer.tick, service.observer.tick)
    daemon.every(conf.event_sinks.tick, service.delivery.tick)
    daemon.every(TOGETHER, service.notifications.look)
    if conf.observer.notification_topics:
        service.listening = Listening(
            conf,
            service.notifications.hear,
            topics=conf.observer.notification_topics,
            exchanges=conf.observer.notification_exchanges,
            pool=conf.observer.notification_pool,
            executor=executor,
        )
    return service


def _delivery(daemon: Daemon) -> Delivery:
    """Return what delivers events.

    Raises:
        Misconfigured: the operator wants notifications, but has not said how, or allows no URL to be one.
    """
    options = daemon.conf.event_sinks
    publisher = options.publisher_id or f"orchestration.{socket.gethostname()}"
    notifier = daemon.bus.notifier(publisher)
    if options.notify_all and notifier is None:
        raise errors.Misconfigured(
            reason="[event_sinks] notify_all needs [oslo_messaging_notifications] driver: set messagingv2."
        )
    rules = Rules.of(options.webhook_allow, options.webhook_secret, options.webhook_timeout)
    return Delivery(
        database=daemon.database,
        types=SinkTypes(rules=rules, notify=None if notifier is None else notifier.publish),
        notify_all=options.notify_all,
        threads=options.threads,
        timeout=options.webhook_timeout,
    )


def worker(daemon: Daemon, types: Registry, executor: str) -> WorkerService:
    """Start a worker."""
    limit_queries(daemon.conf)
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
        signal_url=signal_url(daemon),
        software_quotas=_software_quotas(daemon.conf),
    )
    daemon.backlog = service.backlog
    return service


def _software_quotas(conf: cfg.ConfigOpts) -> Quotas:
    return Quotas(
        configs=conf.max_software_configs_per_tenant,
        deployments=conf.max_software_deployments_per_tenant,
    )


def signal_url(daemon: Daemon) -> Callable[[Stack, str], str]:
    """Return what tells where a signal to a stack's resource of some name can be sent."""
    url = signer(daemon.conf, daemon.database.keyring).signal_url
    return lambda stack, name: url(stack.project_id, stack.name, stack.id, name)


def signer(conf: cfg.ConfigOpts, keyring: Keyring) -> Signer:
    """Return what signs URLs for signals."""
    secret, *old_secrets = keyring.subkeys("signals")
    endpoint = conf.api.public_endpoint or f"http://{conf.api.host}:{conf.api.port}"
    return Signer(secret, endpoint, old_secrets)


class ApiService:
    """The REST API on its own threads."""

    def __init__(
        self, conf: cfg.ConfigOpts, bus: Bus, keyring: Keyring, strategy: Strategy, *, shared: bool = False
    ) -> None:
        """Listen; ``shared`` lets other processes listen on the same port too."""
        client = EngineClient(EngineCaller(bus))
        application = deploy.application(client, conf, strategy, signer(conf, keyring))
        options = conf.api
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
