# SPDX-License-Identifier: Apache-2.0
"""The API."""

from __future__ import annotations

from collections.abc import Callable

from oslo_config import cfg

from heatconv.api import deploy
from heatconv.api.auth import Strategy
from heatconv.api.middleware import HEALTHCHECK
from heatconv.cmd.compose import common
from heatconv.cmd.compose.front import Bounds, Front, listen
from heatconv.crypto import Keyring
from heatconv.rpc.asking import EngineCaller
from heatconv.rpc.bus import Bus
from heatconv.rpc.grouped_reads import GroupedReads


class ApiService:
    """The REST API on its own threads; requests under way are finished before it ends."""

    def __init__(
        self, conf: cfg.ConfigOpts, bus: Bus, keyring: Keyring, strategy: Strategy, *, shared: bool = False
    ) -> None:
        """Listen; ``shared`` lets other processes listen on the same port too."""
        client = GroupedReads(EngineCaller(bus))
        application = deploy.application(client, conf, strategy, common.signer(conf, keyring))
        options = conf.api
        bounds = Bounds(
            seconds=options.request_timeout,
            connections=options.max_connections,
            connections_of_address=options.max_connections_per_address or options.max_connections,
            body=options.max_json_body_size,
            paths_apart=frozenset({HEALTHCHECK}),
        )
        self._listener = listen(str(options.host), options.port, shared=shared)
        self._front = Front(application, self._listener, options.threads, bounds)

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        host, port = self._listener.getsockname()[:2]
        return str(host), int(port)

    def serve(self, at_each_turn: Callable[[], None] = lambda: None) -> None:
        """Serve until stopped; ``at_each_turn`` is called at least once a second."""
        self._front.serve(at_each_turn)

    def stop(self) -> None:
        """Take no more requests, and finish those that run."""
        self._front.stop()
