# SPDX-License-Identifier: Apache-2.0
"""Resources that are waited for, and looked at, many at once: around Heat's plugins, which ask for each.

While an action goes on, a listing that all who wait share tells so; the plugin's
own look is taken when the listing tells otherwise, and now and then anyway.
What a listing lacks is looked at by itself before it is called missing, unless it was
asked for by its id.
"""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from heatconv import errors
from heatconv.model.secrets import sentence
from heatconv.openstack.driver import CloudDriver
from heatconv.openstack.kinds import KINDS, Either, Going, Kind
from heatconv.openstack.listings import ROUND, Found, Listings
from heatconv.openstack.progress import restored
from heatconv.openstack.stand_ins.resource import Resource
from heatconv.resources.driver import driver_of
from heatconv.resources.exception import PollDelay, ResourceInError

LOG = logging.getLogger(__name__)

SHARE, LONGEST = 20, 10.0  #: part of the time waited so far, and seconds at most, until the next look
AT_LAST = 600.0  #: seconds after which the plugin looks, whatever is listed

LISTINGS = Listings()  #: of this process


def listed(type_name: str, plain: type[Resource]) -> type[Resource]:
    """Return a type of which many are waited for and looked at with one call, if its service lists them."""
    kind = KINDS.get(type_name)
    if kind is None:
        return plain
    attributes = {"kind": kind, "__doc__": plain.__doc__, "__module__": plain.__module__}
    return type(plain.__name__, (Listed, plain), attributes)


@dataclass
class _Wait:
    """One action, as this worker waits for it; times by the clock."""

    action: str
    since: float
    looked: float | None = None  #: when the plugin did last
    due: float = 0.0  #: when it was to be asked again; who asks before was woken, since something happened


class ListedDriver(CloudDriver):
    """Drives a plugin of which many are waited for, and looked at, together."""

    plugin: Listed
    _wait: _Wait | None = None

    # -- waiting -------------------------------------------------------------------------------

    def is_complete(self, action: str, token: Any) -> bool:
        """Tell whether an action is at its end, by the plugin's own look unless it is seen to go on.

        Raises:
            PollDelay: it goes on; ask again in so many seconds.
        """
        going = self.plugin.kind.going.get(action)
        if going is None or not going.only_waits(restored(token)):
            return super().is_complete(action, token)
        now = time.monotonic()
        wait = self._waiting(action, now)
        if now >= wait.due and self._goes_on(going, wait, now):
            pause = max(ROUND, min((now - wait.since) / SHARE, LONGEST))
            wait.due = now + pause
            raise PollDelay(pause)
        wait.looked, wait.due = now, 0.0
        return super().is_complete(action, token)

    def _waiting(self, action: str, now: float) -> _Wait:
        if self._wait is None or self._wait.action != action:
            self._wait = _Wait(action, now)
        return self._wait

    def _goes_on(self, going: Going, wait: _Wait, now: float) -> bool:
        plugin = self.plugin
        thing = plugin.kind.thing(plugin)
        if thing is None or now >= (wait.looked or wait.since) + AT_LAST:
            return False
        if wait.since == now:
            return going.takes_time
        state = next(iter(going.states)) if len(going.states) == 1 else None
        return LISTINGS.goes_on(
            (plugin.seen_by(), state),
            thing,
            lambda ids: plugin.kind.lists(plugin, ids, state),
            lambda found: found.get("status") in going.states,
        )

    # -- looking -------------------------------------------------------------------------------

    def observe(self) -> Mapping[str, Any]:
        """Return the properties that tell of a drift, as the service tells them now.

        Raises:
            PhysicalResourceGone: it is not there any more.
            ResourceInError: it is there, and its service says that it is broken.
        """
        plugin = self.plugin
        if not plugin.kind.comparable:
            return super().observe()
        try:
            return plugin.live_state(plugin._show_resource())
        except Exception as error:
            if plugin._is_gone(error):
                raise errors.PhysicalResourceGone(name=plugin.name) from error
            raise

    def differences(self, live: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is live of the comparable properties and is not as it was given."""
        given = self.plugin.definition.properties
        return {
            name: live[name].words[-1] if isinstance(live[name], Either) else live[name]
            for name in sorted(self.plugin.comparable() & live.keys())
            if not self._agrees(name, given[name], live[name])
        }

    def _agrees(self, name: str, wanted: Any, found: Any) -> bool:
        if isinstance(found, Either):
            return found.fits(wanted)
        schema = self.plugin.properties_schema[name]
        try:
            wanted = schema.value(wanted)
        except (TypeError, ValueError):
            return True  # it was valid once; there is nothing that it could be compared as
        if isinstance(wanted, list) and isinstance(found, list):  # services order them as they like
            return sorted(map(_text, wanted)) == sorted(map(_text, found))
        if isinstance(wanted, Mapping) and isinstance(found, Mapping):  # and add keys of their own
            return all(_text(found.get(key)) == _text(value) for key, value in wanted.items())
        return schema.agrees(wanted, found)


class Listed(Resource):
    """A resource whose service lists it with others."""

    kind: ClassVar[Kind]
    _driver = ListedDriver

    def seen_by(self) -> Hashable:
        """Return what is listed here, and who sees it."""
        context = self.context
        return self.kind.name, context.project_id, context.user_id, getattr(context, "region_name", None)

    @classmethod
    def observe_many(
        cls, resources: Sequence[Self]
    ) -> Mapping[str, Mapping[str, Any] | ResourceInError | None]:
        """Return how each is now, by ``uuid``, with as many calls as there are pages."""
        by_user: defaultdict[Hashable, list[Self]] = defaultdict(list)
        for each in resources:
            by_user[each.seen_by()].append(each)
        return dict(state for some in by_user.values() for state in _observed(some))

    def live_state(self, found: Found) -> Mapping[str, Any]:
        """Return the properties that tell of a drift, as they are listed.

        Raises:
            ResourceInError: its service says that it is broken.
        """
        if str(found.get("status")).upper() == "ERROR":
            raise ResourceInError(resource_status=found["status"], status_reason="its service says so")
        return self.kind.reads(found)

    def comparable(self) -> set[str]:
        """Return the names of the properties that were given, and tell of a drift in this type."""
        if not self.kind.comparable:
            return super().comparable()
        given = self.definition.properties
        return {name for name in self.kind.comparable if given.get(name) is not None}


def _observed(some: Sequence[Listed]) -> Iterator[tuple[str, Mapping[str, Any] | ResourceInError | None]]:
    """Yield what is told of resources that one user sees; nothing of those that cannot be looked at now."""
    first, kind = some[0], some[0].kind
    ids = [each.resource_id for each in some if each.resource_id is not None]
    pages = (kind.looks or kind.lists)(first, ids, None)
    found = {each["id"]: each for page in pages for each in page}
    can_ask = True
    for each in some:
        there = found.get(each.resource_id or "")
        if there is None and kind.asks_by_id and each.resource_id is not None:
            yield each.uuid, None
            continue
        if there is None and not can_ask:
            continue
        try:
            yield each.uuid, driver_of(each).observe() if there is None else each.live_state(there)
        except errors.PhysicalResourceGone:
            yield each.uuid, None
        except ResourceInError as error:
            yield each.uuid, error
        except Exception as error:  # noqa: BLE001 - a client library may raise anything
            can_ask = False
            LOG.info("%s cannot be looked at: %s", each, sentence(f"{type(error).__name__}: {error}"))


def _text(part: Any) -> str:
    return part if isinstance(part, str) else json.dumps(part, sort_keys=True, default=str)
