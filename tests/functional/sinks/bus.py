# SPDX-License-Identifier: Apache-2.0
"""A bus to publish notifications on, and what a listener finds there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import amqp
import sqlalchemy as sa

from heatconv import conf as configuration
from heatconv.rpc.bus import Bus, Notifier

QUEUES = ("notifications.info", "notifications.error")


def notifier(directory: Path, url: str, driver: str = "messagingv2") -> Notifier | None:
    """Return what publishes notifications at a transport URL, as the options say."""
    file = directory / "heatconv.conf"
    file.write_text(f"[oslo_messaging_notifications]\n{f'driver = {driver}' if driver else ''}\n")
    conf = configuration.load(["--config-file", str(file)], prog="test", default_config_files=[])
    return Bus(conf, url).notifier("orchestration.here")


class Listener:
    """Reads what was published, from where the driver leaves it for whoever listens."""

    def __init__(self, url: str) -> None:
        server = sa.make_url(url)
        self._connection = amqp.Connection(
            f"{server.host}:{server.port}",
            userid=server.username,
            password=server.password,
            virtual_host=server.database or "/",
        )
        self._connection.connect()
        self._channel = self._connection.channel()
        for queue in QUEUES:
            self._channel.queue_declare(queue, auto_delete=False, durable=False)
            self._channel.queue_purge(queue)

    def close(self) -> None:
        for queue in QUEUES:
            self._channel.queue_delete(queue)
        self._connection.close()

    def read(self) -> list[Any]:
        """Return the notifications that have come, those of errors last."""
        found = []
        for queue in QUEUES:
            while (message := self._channel.basic_get(queue, no_ack=True)) is not None:
                found.append(json.loads(json.loads(message.body)["oslo.message"]))
        return found
