# SPDX-License-Identifier: Apache-2.0
"""The API."""

from __future__ import annotations

from cheroot import wsgi
from oslo_config import cfg

from heatconv.api import deploy
from heatconv.api.auth import Strategy
from heatconv.cmd.compose import common
from heatconv.crypto import Keyring
from heatconv.rpc.bus import Bus, EngineCaller
from heatconv.rpc.engine_client import EngineClient


class ApiService:
    """The REST API on its own threads."""

    def __init__(
        self, conf: cfg.ConfigOpts, bus: Bus, keyring: Keyring, strategy: Strategy, *, shared: bool = False
    ) -> None:
        """Listen; ``shared`` lets other processes listen on the same port too."""
        client = EngineClient(EngineCaller(bus))
        application = deploy.application(client, conf, strategy, common.signer(conf, keyring))
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
