# SPDX-License-Identifier: Apache-2.0
"""The engine."""

from __future__ import annotations

import socket

from heatconv import errors
from heatconv.assembly.engine import EngineSettings
from heatconv.assembly.engine_service import EngineService
from heatconv.assembly.serving import Serving
from heatconv.cmd.compose import common
from heatconv.cmd.daemon import Daemon
from heatconv.engine import operator_environment, survey
from heatconv.engine.delegating import Authority
from heatconv.engine.purging import LOOK, Retention
from heatconv.metrics import instruments
from heatconv.metrics import types as metered_types
from heatconv.model.drift import Mode
from heatconv.observer.healing import Limits
from heatconv.observer.notifications import TOGETHER
from heatconv.observer.policies import Defaults
from heatconv.plans.plans import Bounds
from heatconv.resources.registry import Registry
from heatconv.rpc.notifications import Listening
from heatconv.sinks.delivery import Delivery
from heatconv.sinks.types import SinkTypes
from heatconv.sinks.webhook import Rules


def start(
    daemon: Daemon, types: Registry, executor: str, authority: Authority | None = None
) -> EngineService:
    """Start an engine and its recovery tick; ``authority``: by which users delegate what stacks need."""
    conf = daemon.conf
    common.bound_templates(conf)
    metered_types.name_each(types.names())
    settings = EngineSettings(
        dead_after=daemon.dead_after,
        ready_grace=conf.ready_grace,
        default_timeout=conf.stack_action_timeout,
        max_template_size=conf.max_template_size,
        max_stacks=conf.max_stacks_per_tenant,
        max_resources=conf.max_resources_per_stack,
        max_depth=conf.max_nested_stack_depth,
        max_snapshots=conf.max_snapshots_per_stack,
        keep_events=conf.max_events_per_stack,
        software_quotas=common.software_quotas(conf),
        signal_url=common.signal_url(daemon),
        operator_environment=operator_environment.load(conf.environment_dir, types.stand_for),
        observation=Defaults(
            mode=Mode(conf.observer.policy), interval=conf.observer.interval, portion=conf.observer.portion
        ),
        heal_limits=Limits(
            per_hour=conf.observer.max_heals_per_hour,
            per_resource=conf.observer.max_heals_per_resource,
            percent=conf.observer.heal_percent,
        ),
        plans=Bounds(seconds=conf.plans.keep_for, most=conf.plans.max_per_project),
        retention=Retention(
            deleted_stacks=conf.purge.deleted_stacks_after * 86400.0 or None, every=conf.purge.interval
        ),
    )
    service = EngineService(
        database=daemon.database,
        registry=types,
        bus=daemon.bus,
        settings=settings,
        delivery=_delivery(daemon),
        serving=Serving(engine_id=daemon.engine_id, threads=conf.engine.threads, executor=executor),
        authority=authority,
    )
    engine = service.engine
    daemon.every(conf.recovery_interval, engine.recovery.tick)
    if authority is not None:
        daemon.every(conf.recovery_interval, engine.delegating.tick)
    daemon.every(min(LOOK, conf.purge.interval), engine.purging.tick)
    daemon.every(conf.observer.tick, engine.observer.tick)
    daemon.every(conf.observer.tick, engine.restored.tick)
    daemon.every(conf.event_sinks.tick, service.delivery.tick)
    daemon.every(TOGETHER, engine.notifications.look)
    if instruments.is_on():
        surveyor = survey.Surveyor(daemon.database, dead_after=daemon.dead_after)
        daemon.every(survey.EVERY, surveyor.survey)
    if conf.observer.notification_topics:
        service.listening = Listening(
            conf,
            engine.notifications.hear,
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
