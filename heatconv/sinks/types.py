# SPDX-License-Identifier: Apache-2.0
"""Which types of sinks there are: our own, and those that are installed.

A plugin's class is an entry point of ``heatconv.event_sinks``, or of
``heat.event_sinks``: ``__init__`` takes the keys of the environment's sink less
its type, ``consume(context, event)`` an event in the form of ``contract.body``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any

from heatconv import errors
from heatconv.model.records import Event, Stack
from heatconv.model.secrets import sentence, texts_in
from heatconv.rpc.context import RequestContext
from heatconv.sinks.contract import Sink, body
from heatconv.sinks.notification import Notification, Notify
from heatconv.sinks.webhook import Rules, Webhook

OWN = ("webhook", "notification")  #: the types that are not installed
GROUPS = ("heatconv.event_sinks", "heat.event_sinks")

Spec = Mapping[str, Any]


class SinkTypes:
    """The types of sinks of this process, by name."""

    def __init__(self, *, rules: Rules | None = None, notify: Notify | None = None) -> None:
        """Keep what the operator says of webhooks (None: there are none), and how to notify, if at all."""
        self._own: Mapping[str, Callable[..., Sink]] = {
            "webhook": functools.partial(Webhook, rules or Rules()),
            "notification": functools.partial(Notification, notify),
        }

    def names(self) -> list[str]:
        """Return the names of all types in order."""
        return sorted({*self._own, *_installed()} - IDLE)

    def make(self, spec: Spec) -> Sink:
        """Return the sink that an environment describes.

        Raises:
            Invalid: there cannot be such a sink, and why; the paths begin inside of it.
        """
        keys = {key: value for key, value in spec.items() if key != "type"}
        type_ = spec["type"]
        if type_ in self._own:
            return self._own[type_](**keys)
        if type_ not in _installed():
            raise errors.Invalid(
                problems=[
                    ("type", f"There is no type of event sink {type_}; there are {self._known_types()}.")
                ]
            )
        try:
            return _Plugged(_installed()[type_].load()(**keys))
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            reason = sentence(f"{type(error).__name__}: {error}", secrets_of(spec))
            raise errors.Invalid(problems=[("", f"The event sink cannot be made: {reason}")]) from None

    def check(self, environment: Mapping[str, Any]) -> None:
        """Refuse an environment that names a sink that there cannot be.

        Raises:
            Invalid: it does, with every mistake.
        """
        found = [
            (f"event_sinks[{place}]{'.' if path else ''}{path}", reason)
            for place, spec in enumerate(environment.get("event_sinks") or ())
            if spec["type"] not in IDLE
            for path, reason in self._problems(spec)
        ]
        if found:
            raise errors.Invalid(problems=found)

    def _problems(self, spec: Spec) -> Iterator[tuple[str, str]]:
        try:
            self.make(spec).close()
        except errors.Invalid as error:
            yield from error.problems

    def _known_types(self) -> str:
        return ", ".join(sorted({*self.names(), *IDLE}))


#: Types that an environment may name, to no effect: there is no client of their services here.
IDLE = frozenset({"zaqar-queue"})


def effective(environment: Mapping[str, Any]) -> Sequence[Spec] | None:
    """Return the sinks of an environment that something is sent to; None if it does not say."""
    sinks = environment.get("event_sinks")
    return None if sinks is None else [spec for spec in sinks if spec["type"] not in IDLE]


def secrets_of(spec: Spec) -> frozenset[str]:
    """Return the texts of a sink that nobody else needs to know, its target among them."""
    return frozenset(texts_in({key: value for key, value in spec.items() if key != "type"}))


class _Plugged:
    """A plugin's sink."""

    def __init__(self, plugin: Any) -> None:
        self._plugin = plugin

    def send(self, stack: Stack, event: Event) -> None:
        context = RequestContext(
            project_id=stack.project_id, user_id=stack.user_id, user_name=stack.user_name
        )
        self._plugin.consume(context, body(event))

    def close(self) -> None:
        """Have nothing to let go of."""


@functools.cache
def _installed() -> Mapping[str, Any]:
    """Return the entry points by name; of two of a name that of the first group counts."""
    return {item.name: item for group in reversed(GROUPS) for item in entry_points(group=group)}
