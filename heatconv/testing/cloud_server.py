# SPDX-License-Identifier: Apache-2.0
"""The fake cloud over HTTP, on loopback, for worlds of several processes.

``python -m heatconv.testing.cloud_server --port 0`` prints
``fake cloud is up: http://127.0.0.1:PORT`` once it listens.  With
``--notify TRANSPORT_URL`` it publishes what happens to its objects on a topic.

============================  ===================================================
``POST /objects``             name, kind, owner, properties, wait
``GET /objects``              query: name and kind (find), or owner
``POST /objects/query``       ids: those of them that are there
``GET, PATCH, DELETE``        ``/objects/{id}``; PATCH and DELETE: properties, wait
``PUT /control/gate``         ``{"limit": k}`` or ``{"limit": null}`` to release
``GET /control/gate``         query: count, timeout, done; waits that long
``POST /control/failures``    a ``FailureRule``; DELETE clears them
``PUT /control/latency``      ``{"create": 0.5, ...}``
``POST /control/meddle``      id, and properties to change, or null to remove it
``POST /control/spoil``       id of an object that is to be in ERROR
``GET /control/audit``        query: since
``POST /control/reset``       forget everything
============================  ===================================================
"""

from __future__ import annotations

import argparse
import json
import queue
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from heatconv.testing.cloud import Cloud
from heatconv.testing.failures import FailureRule, Refused, Unreachable

Answer = tuple[int, Any]
Query = Mapping[str, str]


class CloudServer(ThreadingHTTPServer):
    """A listening cloud; ``serve_forever`` serves it, ``shutdown`` ends that."""

    daemon_threads = True
    # A fleet of workers connects at once; the default backlog of 5 would reset some.
    request_queue_size = 256

    def __init__(self, cloud: Cloud, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.cloud = cloud

    @property
    def url(self) -> str:
        """The address clients reach the cloud at."""
        return f"http://127.0.0.1:{self.server_port}"


def _create(cloud: Cloud, _id: str, _query: Query, body: Any) -> Answer:
    return 202, cloud.create(
        body["name"], body["kind"], body["owner"], body["properties"], wait=body.get("wait")
    )


def _find(cloud: Cloud, _id: str, query: Query, _body: Any) -> Answer:
    if "name" in query:
        return 200, cloud.find(query["name"], query.get("kind"))
    return 200, cloud.owned(query.get("owner", ""))


def _show_many(cloud: Cloud, _id: str, _query: Query, body: Any) -> Answer:
    return 200, cloud.show_many(body["ids"])


def _show(cloud: Cloud, object_id: str, _query: Query, _body: Any) -> Answer:
    return 200, cloud.show(object_id)


def _update(cloud: Cloud, object_id: str, _query: Query, body: Any) -> Answer:
    return 202, cloud.update(object_id, body["properties"], wait=body.get("wait"))


def _delete(cloud: Cloud, object_id: str, _query: Query, body: Any) -> Answer:
    cloud.delete(object_id, wait=(body or {}).get("wait"))
    return 202, {}


def _set_gate(cloud: Cloud, _id: str, _query: Query, body: Any) -> Answer:
    if body["limit"] is None:
        cloud.gate.release()
    else:
        cloud.gate.hold_after(body["limit"])
    return 200, {}


def _watch_gate(cloud: Cloud, _id: str, query: Query, _body: Any) -> Answer:
    gate = cloud.gate
    reached = gate.wait_for(
        int(query.get("count", 0)), float(query.get("timeout", 0)), done=query.get("done") == "true"
    )
    return 200, {"arrived": gate.arrived, "done": gate.done, "reached": reached}


def _add_failure(cloud: Cloud, _id: str, _query: Query, body: Any) -> Answer:
    cloud.fail(FailureRule(**body))
    return 200, {}


def _clear_failures(cloud: Cloud, _id: str, _query: Query, _body: Any) -> Answer:
    cloud.stop_failing()
    return 200, {}


def _set_latency(cloud: Cloud, _id: str, _query: Query, body: Any) -> Answer:
    cloud.latency.update(body)
    return 200, {}


def _meddle(cloud: Cloud, _id: str, _query: Query, body: Any) -> Answer:
    if body["properties"] is None:
        cloud.vanish(body["id"])
    else:
        cloud.meddle(body["id"], body["properties"])
    return 200, {}


def _spoil(cloud: Cloud, _id: str, _query: Query, body: Any) -> Answer:
    cloud.spoil(body["id"])
    return 200, {}


def _audit(cloud: Cloud, _id: str, query: Query, _body: Any) -> Answer:
    return 200, [asdict(entry) for entry in cloud.audit(int(query.get("since", 0)))]


def _reset(cloud: Cloud, _id: str, _query: Query, _body: Any) -> Answer:
    cloud.reset()
    return 200, {}


ROUTES: Mapping[tuple[str, str], Callable[[Cloud, str, Query, Any], Answer]] = {
    ("POST", "/objects"): _create,
    ("GET", "/objects"): _find,
    ("POST", "/objects/query"): _show_many,
    ("GET", "/objects/"): _show,
    ("PATCH", "/objects/"): _update,
    ("DELETE", "/objects/"): _delete,
    ("PUT", "/control/gate"): _set_gate,
    ("GET", "/control/gate"): _watch_gate,
    ("POST", "/control/failures"): _add_failure,
    ("DELETE", "/control/failures"): _clear_failures,
    ("PUT", "/control/latency"): _set_latency,
    ("POST", "/control/meddle"): _meddle,
    ("POST", "/control/spoil"): _spoil,
    ("GET", "/control/audit"): _audit,
    ("POST", "/control/reset"): _reset,
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body leave in one segment each; without this the second waits for an ACK.
    disable_nagle_algorithm: ClassVar[bool] = True
    server: CloudServer

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        address = urlsplit(self.path)
        place, object_id = re.fullmatch(r"(/objects/query|/objects/|.*)(.*)", address.path).groups()  # type: ignore[union-attr]
        handle = ROUTES.get((self.command, place))
        if handle is None:
            self._answer(404, {"message": f"there is no {self.command} {address.path}"})
            return
        try:
            self._answer(*handle(self.server.cloud, object_id, dict(parse_qsl(address.query)), body))
        except Refused as refusal:
            self._answer(refusal.status, {"message": refusal.message}, refusal.retry_after)
        except Unreachable:
            # Carried out, and without an answer.
            self.close_connection = True

    def _answer(self, status: int, body: Any, retry_after: float | None = None) -> None:
        content = json.dumps(body).encode()
        self.send_response(HTTPStatus(status))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if retry_after is not None:
            self.send_header("Retry-After", str(retry_after))
        self.end_headers()
        self.wfile.write(content)

    def __getattr__(self, name: str) -> Any:
        """Serve whatever method the request names: the base class looks for ``do_<METHOD>``."""
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the audit log is the log."""


def _publisher(transport_url: str, topic: str) -> Callable[[str, Any], None]:
    """Return a function that has notifications published, one after the other, without waiting for that."""
    from heatconv.rpc.notifications import Publishing  # noqa: PLC0415 - slow, and hardly ever asked for

    publish = Publishing(transport_url, topic, "fake-cloud").publish
    unpublished: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()

    def publish_all() -> None:
        while True:
            publish(*unpublished.get())

    threading.Thread(target=publish_all, daemon=True).start()
    return lambda event_type, payload: unpublished.put((event_type, payload))


def main() -> None:
    """Serve a cloud until interrupted."""
    parser = argparse.ArgumentParser(description="Serve a fake cloud on loopback.")
    parser.add_argument("--port", type=int, default=0, help="the port to listen at (0: any free one)")
    parser.add_argument("--notify", metavar="TRANSPORT_URL", help="the broker to publish notifications at")
    parser.add_argument("--notify-topic", default="notifications", help="the topic to publish them on")
    arguments = parser.parse_args()
    cloud = (
        Cloud(publish=_publisher(arguments.notify, arguments.notify_topic)) if arguments.notify else Cloud()
    )
    server = CloudServer(cloud, arguments.port)
    print(f"fake cloud is up: {server.url}", flush=True)  # noqa: T201 - the program that starts it reads this line
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
