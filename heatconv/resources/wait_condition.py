# SPDX-License-Identifier: Apache-2.0
"""Signals that are waited for: how a handle keeps them, and how they are read."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from heatconv.resources import signal_responder
from heatconv.resources.i18n import _

SUCCESS, FAILURE = STATUSES = ("SUCCESS", "FAILURE")
KEYS = ("status", "reason", "data", "id")  #: of a signal; none has to be there

Signals = Mapping[str, Mapping[str, Any]]  #: by id: status, reason, data


def signals_in(metadata: Mapping[str, Any]) -> Signals:
    """Return the signals among the metadata of a handle, in which a template may have put more."""
    return {
        key: value
        for key, value in metadata.items()
        if isinstance(value, Mapping) and value.get("status") in STATUSES
    }


class BaseWaitConditionHandle(signal_responder.SignalResponder):
    """A resource that keeps the signals it is sent, in its metadata, by their id.

    A signal is a map of ``status``, ``reason``, ``data`` and ``id``, none of
    which has to be there; one with the id of another replaces that.
    """

    signal_needs_metadata_updates = False

    def handle_signal(self, details: Any = None) -> str:
        given = _checked({} if details is None else details)
        kept: dict[str, Any] = {}

        def add(given: Mapping[str, Any], current: Mapping[str, Any]) -> Mapping[str, Any]:
            number = len(signals_in(current)) + 1
            name = given.get("id") or next(n for n in itertools.count(number) if str(n) not in current)
            kept["status"] = given.get("status") or SUCCESS
            kept["reason"] = given.get("reason") or _("Signal %d received") % number
            return {**current, str(name): {**kept, "data": given.get("data")}}

        self.metadata_set(given, merge_metadata=add)
        return f"status:{kept['status']} reason:{kept['reason']}"

    def metadata_update(self, new_metadata: Mapping[str, Any] | None = None) -> None:
        """Keep the signals: no template knows them."""

    def get_status(self) -> list[str]:
        """Return the status of each signal."""
        return [str(signal["status"]) for signal in signals_in(self.metadata_get()).values()]

    def get_status_reason(self, status: str) -> list[str]:
        """Return the reasons of the signals of a status."""
        signals = signals_in(self.metadata_get()).values()
        return [str(signal["reason"]) for signal in signals if signal["status"] == status]


def _checked(details: Any) -> Mapping[str, Any]:
    """Return what a signal says.

    Raises:
        ValueError: it is no signal to a handle.
    """
    if not isinstance(details, Mapping):
        raise ValueError(f"it has to be a map, not {details!r}")  # noqa: TRY004 - a user's mistake
    unknown = sorted(details.keys() - KEYS)
    if unknown:
        raise ValueError(f"it cannot have {', '.join(unknown)}, but {', '.join(KEYS)}")
    if details.get("status") not in (None, "", *STATUSES):
        raise ValueError(f"its status has to be {' or '.join(STATUSES)}, not {details['status']!r}")
    return details
