# SPDX-License-Identifier: Apache-2.0
"""The clients that each thread acts by, which it keeps for the next resource of the same user.

To make a client may take a login, a question to its service, and a connection: more than the calls
that a resource takes.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

from heatconv.resources.clients import Clients

FRESH = 60.0  #: seconds after which clients are made anew, with whatever their service has told them
MOST = 2  #: users whose clients a thread keeps: stacks take turns, and each client may hold a connection


class ClientsByThread(threading.local):
    """The clients of each thread, by whom they act for.

    Concurrency: each thread that asks has clients of its own.
    """

    def __init__(self) -> None:
        self._kept: deque[tuple[Clients, float]] = deque(
            maxlen=MOST
        )  # and when they were made, the last first

    def of(self, context: Any) -> Clients:
        """Return the clients by which the asking thread acts for somebody."""
        now = time.monotonic()
        for clients, made_at in self._kept:
            if now - made_at < FRESH and clients.context == context:
                return clients
        made = Clients(context)
        self._kept.appendleft((made, now))
        return made
