# SPDX-License-Identifier: Apache-2.0
"""What services publish of their things, the notifications of oslo.messaging: hear it, or do as they do.

A pool has a queue of its own: each notification goes to one of the listeners of
the pool, and the copies of everybody else's stay theirs.  Nothing is ever given
back to the queue: what was heard and lost is found without it, a little later.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import oslo_messaging
from oslo_config import cfg

LOG = logging.getLogger(__name__)

Hear = Callable[[str, Any], None]  #: takes the type of the event and its payload


class Listening:
    """One process's ear.

    Concurrency: ``hear`` is called on a thread of the listener's, by one
    notification at a time; it should return at once.
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        hear: Hear,
        *,
        topics: Sequence[str],
        exchanges: Sequence[str],
        pool: str,
        executor: str,
    ) -> None:
        """Listen to topics of some exchanges, where ``[oslo_messaging_notifications] transport_url`` says."""
        self._server = oslo_messaging.get_notification_listener(
            oslo_messaging.get_notification_transport(conf),
            [oslo_messaging.Target(topic=topic, exchange=each) for topic in topics for each in exchanges],
            [_Ear(hear)],
            executor=executor,
            pool=pool,
        )
        self._listens = threading.Event()
        # Another broker than our own may be away: that keeps nobody from being an engine.
        threading.Thread(target=self._start, name="listen", daemon=True).start()

    def _start(self) -> None:
        self._server.start(override_pool_size=1)
        self._listens.set()
        LOG.info("notifications are listened to: %s", ", ".join(map(str, self._server.targets)))

    def stop(self) -> None:
        """Hear no more; what nobody has heard yet is for the others of the pool."""
        if self._listens.is_set():
            self._server.stop()


class _Ear:
    """Hears notifications of each priority that tells of a thing; the others are about calls and samples."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear

    def info(
        self, _context: Any, _publisher: str, event_type: str, payload: Any, _metadata: Mapping[str, Any]
    ) -> None:
        self._hear(event_type, payload)

    warn = error = info


class Publishing:
    """A service that publishes; nobody has to listen."""

    def __init__(self, url: str, topic: str, publisher: str) -> None:
        """Connect to a broker when something is to be published first."""
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[])
        self._notifier = oslo_messaging.Notifier(
            oslo_messaging.get_notification_transport(conf, url),
            publisher_id=publisher,
            driver="messagingv2",
            topics=[topic],
            retry=1,
        )

    def publish(self, event_type: str, payload: Mapping[str, Any]) -> None:
        """Publish that something has happened; what cannot be sent is logged and gone."""
        self._notifier.info({}, event_type, dict(payload))
