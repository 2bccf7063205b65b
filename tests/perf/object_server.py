# SPDX-License-Identifier: Apache-2.0
"""A service of objects that takes next to nothing: ``python -m tests.perf.object_server [--delay S]``.

Prints ``objects are at URL`` once it listens.  Each call is answered after the delay,
on a connection that stays open.

========================  ================================================
``POST /objects``         makes one, of the JSON that is sent
``GET /objects/{id}``     shows it
``DELETE /objects/{id}``  removes it
``GET /calls``            how many calls came, and on how many connections
========================  ================================================
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
from typing import Any, cast

Answer = tuple[str, Any]


class Objects:
    """What there is, and what was asked."""

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.connections = 0
        self._calls = 0
        self._ids = itertools.count(1)
        self._objects: dict[str, Any] = {}

    def answer(self, method: str, path: str, content: bytes) -> Answer:
        """Do what is asked; return the status and what is shown."""
        if path == "/calls":
            return "200 OK", {"calls": self._calls, "connections": self.connections}
        self._calls += 1
        id_ = path.removeprefix("/objects").removeprefix("/")
        if method == "POST":
            id_ = f"object-{next(self._ids)}"
            self._objects[id_] = {**json.loads(content), "id": id_, "status": "ACTIVE"}
            return "201 Created", self._objects[id_]
        found = self._objects.get(id_)
        if found is None:
            return "404 Not Found", {"message": f"there is no {id_}"}
        if method == "DELETE":
            del self._objects[id_]
        return "200 OK", found


class _Connection(asyncio.Protocol):
    """One connection; whoever is at its other end waits for an answer before the next call."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._objects.connections += 1

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, content = self._received.partition(b"\r\n\r\n")
        if not end:
            return
        first, *lines = head.decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        if len(content) < int(headers.get("content-length", 0)):
            return
        self._received = b""
        method, path, _version = first.split(" ")
        status, shown = self._objects.answer(method, path, content)
        body = json.dumps(shown).encode()
        kind = "Content-Type: application/json"
        answer = f"HTTP/1.1 {status}\r\n{kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        if self._objects.delay:
            asyncio.get_running_loop().call_later(self._objects.delay, self._transport.write, answer)
        else:
            self._transport.write(answer)


async def _serve(delay: float) -> None:
    objects = Objects(delay)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(objects), "127.0.0.1", 0, backlog=1024)
    print(f"objects are at http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0, help="seconds until a call is answered")
    asyncio.run(_serve(parser.parse_args().delay))


if __name__ == "__main__":
    main()
