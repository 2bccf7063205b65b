# SPDX-License-Identifier: Apache-2.0
"""A line to a server that can be cut: to its clients it is as if the server had been restarted."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Self

import sqlalchemy as sa


class Proxy:
    """Listens on loopback and passes everything on to a server's address.

    Concurrency: one thread of its own does all of it; any may call.
    """

    def __init__(self, url: str) -> None:
        """Take the URL of the server; ``url`` is then that of the proxy."""
        self._server = sa.make_url(url)
        self.url = url
        self._loop = asyncio.new_event_loop()
        self._listener: asyncio.Server | None = None
        self._port = 0
        self._passing: set[asyncio.Future[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.open()
        self.url = self._server.set(port=self._port).render_as_string(hide_password=False)
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def open(self) -> None:
        """Take connections."""
        self._do(self._open())

    def close(self) -> None:
        """Cut every connection, and refuse new ones."""
        self._do(self._close())

    def lead_to(self, url: str) -> None:
        """Lead somewhere else from now on, and cut what leads elsewhere; the same URL changes nothing."""
        server = sa.make_url(url)
        if (server.host, server.port) != (self._server.host, self._server.port):
            self._server = server
            self._do(self._cut())

    def _do(self, what: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result()

    async def _open(self) -> None:
        self._listener = await asyncio.start_server(self._connect, "127.0.0.1", self._port)
        self._port = self._listener.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self._listener is not None:
            self._listener.close()
        await self._cut()

    async def _cut(self) -> None:
        for passing in self._passing:
            passing.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._pass_on(reader, writer))
        self._passing.add(task)
        task.add_done_callback(self._passing.discard)
        try:
            await task
        except asyncio.CancelledError:
            writer.transport.abort()  # it may not even have begun

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer]
        try:
            onward = await asyncio.open_connection(self._server.host, self._server.port)
            ends.append(onward[1])
            await asyncio.gather(_copy(reader, onward[1]), _copy(onward[0], writer))
        except OSError:
            return  # the server is not there
        finally:
            for end in ends:
                end.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.transport.abort()
