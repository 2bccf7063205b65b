# SPDX-License-Identifier: Apache-2.0
"""Look at resources as they really are, many at once where their service can, and record what is news."""

from __future__ import annotations

import json
import logging
import random
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heatconv import errors
from heatconv.db.observation import observations
from heatconv.db.plumbing.session import Database
from heatconv.engine.plugin_access import driver_for_asking
from heatconv.metrics import types
from heatconv.metrics.declared import LEFT_ALONE, OBSERVATION_FAILURES, OBSERVATIONS
from heatconv.model.drift import Finding, Kind
from heatconv.model.records import ResourceRow, Stack
from heatconv.model.secrets import sentence
from heatconv.resources.declared import implements
from heatconv.resources.driver import PluginDriver, is_observable
from heatconv.resources.exception import ResourceInError
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource as Plugin

LOG = logging.getLogger(__name__)

MANY = 1000  #: resources that a service is asked about in one call
PATIENCE = 3  #: resources in a row that a service may not tell of until it is left alone
FIRST_PAUSE, MAX_PAUSE = 5.0, 300.0  #: seconds until a service that failed is asked again
FORGOTTEN = 3600.0  #: seconds after a pause until it counts no more that the service failed

Live = Mapping[str, Any] | ResourceInError | None
Service = tuple[str, str]  #: whose, and which type's


@dataclass
class Seen:
    """What a look at some resources found; ``unseen`` are the ids of those that could not be looked at."""

    findings: list[Finding] = field(default_factory=list)
    unseen: set[str] = field(default_factory=set)


class Observing:
    """Looks on behalf of one engine.

    Concurrency: may be shared between threads.  Which services are failing is
    this engine's own experience: it is forgotten when they answer, or nobody has asked them for long.
    """

    def __init__(self, database: Database, registry: Registry) -> None:
        """Keep what is handed in."""
        self._database = database
        self._registry = registry
        self._failing: dict[Service, tuple[int, float]] = {}  #: how often in a row, and until when to wait
        LEFT_ALONE.read_by(lambda: sum(self._is_failing(service) for service in tuple(self._failing)))

    def observe(
        self, stacks: Mapping[str, Stack], roots: Iterable[str], rows: Sequence[ResourceRow], *, insist: bool
    ) -> Seen:
        """Look at rows and record what is news; what is returned holds.

        Args:
            stacks: the stacks that the rows are in, or the roots of those, by the id of the former.
            roots: the ids of the root stacks, known to ``db.turns``.
            rows: as ``db.observations`` gives them.
            insist: ask a service even if it failed a little while ago.
        """
        whole, turns = Seen(), sorted(set(roots))
        for start in range(0, len(rows), MANY):
            seen = self._look(stacks, rows[start : start + MANY], insist=insist)
            whole.unseen |= seen.unseen
            OBSERVATIONS.add(len(seen.findings), outcome="seen")
            OBSERVATIONS.add(len(seen.unseen), outcome="unseen")
            if seen.findings:
                whole.findings += observations.record(self._database, turns, seen.findings)
        return whole

    def _look(self, stacks: Mapping[str, Stack], rows: Sequence[ResourceRow], *, insist: bool) -> Seen:
        seen = Seen()
        groups: dict[Service, list[tuple[PluginDriver, ResourceRow]]] = defaultdict(list)
        for row in rows:
            try:
                driver = self._driver(stacks[row.stack_id], row)
            except errors.HeatconvError as error:
                LOG.warning("resource %s cannot be looked at: %s", row.id, error)
                seen.unseen.add(row.id)
                continue
            if driver is not None:
                service = stacks[row.stack_id].project_id, driver.plugin.definition.implemented_by
                groups[service].append((driver, row))
        for service, members in groups.items():
            live = {} if self._is_failing(service) and not insist else self._ask(service, members)
            for driver, row in members:
                if row.id in live:
                    seen.findings.append(_finding(driver, row, live[row.id]))
                else:
                    seen.unseen.add(row.id)
        return seen

    def _driver(self, stack: Stack, row: ResourceRow) -> PluginDriver | None:
        """Return what drives the plugin of a row; None if there is nothing to know of the row's thing."""
        definition = row.applied
        if definition is None or not is_observable(self._registry.get(definition.implemented_by)):
            return None
        return driver_for_asking(self._database, self._registry, stack, row, definition)

    # -- asking a service --------------------------------------------------------------------

    def _ask(self, service: Service, members: Sequence[tuple[PluginDriver, ResourceRow]]) -> dict[str, Live]:
        """Return what a service tells, by row; what it does not tell of is not among it."""
        drivers = [driver for driver, _ in members]
        type_ = type(drivers[0].plugin)
        try:
            if implements(type_, "observe_many"):
                live: dict[str, Live] = dict(type_.observe_many([driver.plugin for driver in drivers]))
            else:
                live = _one_by_one(drivers)
        except Exception as error:  # noqa: BLE001 - a plugin or a service may raise anything
            self._note_failure(service, error)
            return {}
        self._failing.pop(service, None)
        return live

    def _is_failing(self, service: Service) -> bool:
        return time.monotonic() < self._failing.get(service, (0, 0.0))[1]

    def _note_failure(self, service: Service, error: Exception) -> None:
        now = time.monotonic()
        for known, (_, until) in tuple(self._failing.items()):
            if until + FORGOTTEN < now:
                self._failing.pop(known, None)
        times = self._failing.get(service, (0, 0.0))[0]
        # In days of failures the power would come to be more than a number can be.
        pause = min(FIRST_PAUSE * 2.0 ** min(times, 20), MAX_PAUSE) * random.uniform(0.75, 1.25)
        self._failing[service] = times + 1, now + pause
        OBSERVATION_FAILURES.add(type=types.label(service[1]))
        LOG.warning(
            "project %s: resources of type %s cannot be looked at for %d s: %s",
            *service,
            pause,
            sentence(f"{type(error).__name__}: {error}"),
        )


def _one_by_one(drivers: Sequence[PluginDriver]) -> dict[str, Live]:
    """Ask about each; a service that tells of none, or of several in a row not, fails as a whole."""
    live: dict[str, Live] = {}
    failures = 0
    for driver in drivers:
        plugin = driver.plugin
        try:
            live[plugin.uuid] = _observed(driver)
            failures = 0
        except Exception as error:
            failures += 1
            if failures == min(PATIENCE, len(drivers)):
                if live:
                    return live
                raise
            LOG.info("%s cannot be looked at: %s", plugin, sentence(str(error), plugin.definition.secrets))
    return live


def _observed(driver: PluginDriver) -> Live:
    try:
        return driver.observe()
    except errors.PhysicalResourceGone:
        return None
    except ResourceInError as error:
        return error


# -- what that means -----------------------------------------------------------------------------


def _finding(driver: PluginDriver, row: ResourceRow, live: Live) -> Finding:
    plugin = driver.plugin
    secrets = plugin.definition.secrets
    if live is None:
        return Finding(row=row, kind=Kind.MISSING, reason="it is not there any more")
    if isinstance(live, ResourceInError):
        return Finding(row=row, kind=Kind.ERROR, reason=sentence(str(live), secrets))
    differences, unexpected = driver.differences(live), driver.unexpected(live)
    if not differences and not unexpected:
        return Finding(row=row, kind=None)
    differing = [
        *(_difference(plugin, name, value) for name, value in differences.items()),
        *(f"{name} is {_text(value)} and nobody asked for it" for name, value in unexpected.items()),
    ]
    return Finding(
        row=row,
        kind=Kind.CHANGED if differences else Kind.UNEXPECTED,
        differences=differences | unexpected,
        reason=sentence("; ".join(differing), secrets),
    )


def _difference(plugin: Plugin, name: str, live: Any) -> str:
    """Say how a property differs; of one that has a secret, only that it does."""
    if observations.is_secret(plugin.definition, name):
        return f"{name} is not as it was made"
    # As it was given: what a name in it stands for, a service would have to be asked.
    made = plugin.definition.properties.get(name, plugin.properties_schema[name].default)
    return f"{name} is {_text(live)} and was made {_text(made)}"


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 200 else f"{text[:200]}..."
