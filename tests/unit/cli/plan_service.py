# SPDX-License-Identifier: Apache-2.0
"""A service that has one stack, ``web``, and answers with plans that were made up."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from tests.unit.cli.made_up_plans import plan

BASE = "/v1/default"
STACK = f"{BASE}/stacks/web/s1"

Json = dict[str, Any]


class PlanService:
    """A WSGI application; a test sets what it answers, and reads what it was asked."""

    def __init__(self) -> None:
        self.plan = plan()
        self.resources: Iterable[Json] | None = None  #: instead of the plan's own
        self.asked: list[tuple[str, str, Any]] = []
        self.stack: Json = {
            "id": "s1",
            "stack_name": "web",
            "stack_status": "UPDATE_COMPLETE",
            "stack_status_reason": "done",
            "phase": "DONE",
            "progress": {"done": 1, "total": 1},
        }
        self.refused: tuple[int, str] | None = None  #: what applying is answered with
        self.page: int | None = None  #: the resources on each page of a plan, if there are pages

    @property
    def bodies(self) -> list[Any]:
        """What was posted."""
        return [body for method, _, body in self.asked if method == "POST"]

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        sent = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        query = environ.get("QUERY_STRING")
        self._here = f"http://{environ['HTTP_HOST']}"
        self.asked.append((method, path + (f"?{query}" if query else ""), json.loads(sent) if sent else None))
        headers = [("Content-Type", "application/json")]
        if path in {f"{BASE}/stacks/web", f"{BASE}/stacks/s1"}:
            host = environ["HTTP_HOST"]
            headers.append(("Location", f"http://{host}{STACK}"))
            start_response("302 Found", headers)
            return []
        status, answer = self._answer(method, path, parse_qs(query or ""))
        if status == HTTPStatus.NO_CONTENT:
            start_response("204 No Content", [])
            return []
        start_response(f"{int(status)} {HTTPStatus(status).phrase}", headers)
        return answer if isinstance(answer, Iterator) else [json.dumps(answer).encode()]

    def _answer(self, method: str, path: str, query: Mapping[str, list[str]]) -> tuple[int, Any]:
        known = self.plan["id"]
        start = int(query.get("marker", ["0"])[0])
        answers: dict[tuple[str, str], Any] = {
            ("GET", "/stacks/web/s1"): lambda: (200, {"stack": self.stack}),
            ("GET", "/stacks/web/s1/events"): lambda: (200, {"events": []}),
            ("GET", "/plans"): lambda: (200, {"plans": [self._head()]}),
            ("GET", "/stacks/web/s1/plans"): lambda: (200, {"plans": [self._head()]}),
            ("POST", "/plans"): lambda: (201, self._shown()),
            ("POST", "/stacks/web/s1/plans"): lambda: (201, self._shown()),
            ("GET", f"/plans/{known}"): lambda: (200, self._shown(start)),
            ("DELETE", f"/plans/{known}"): lambda: (204, None),
            ("POST", f"/plans/{known}/apply"): self._applied,
        }
        answer = answers.get((method, path.removeprefix(BASE)))
        if answer is None:
            return 404, {"error": {"type": "EntityNotFound", "message": f"Nothing is at {path}."}}
        found: tuple[int, Any] = answer()
        return found

    def _applied(self) -> tuple[int, Any]:
        if self.refused:
            return self.refused[0], {"error": {"type": "PlanStale", "message": self.refused[1]}}
        return 202, {"stack": {"id": "s1", "links": []}}

    def _head(self) -> Json:
        return {key: value for key, value in self.plan.items() if key != "resources"}

    def _shown(self, start: int = 0) -> Iterator[bytes]:
        """Yield an answer piece by piece, as a long one comes."""
        head, resources = self._head(), self.plan["resources"] if self.resources is None else self.resources
        if self.page is not None:
            following = start + self.page
            if following < len(self.plan["resources"]):
                here = head["links"][0]["href"].replace("http://localhost", self._here)
                more = {"href": f"{here}?marker={following}", "rel": "next"}
                head["links"] = [*head["links"], more]
            resources = self.plan["resources"][start:following]
        yield b'{"plan": ' + json.dumps(head).removesuffix("}").encode() + b', "resources": ['
        separator = b""
        for each in resources:
            yield separator + json.dumps(each).encode()
            separator = b", "
        yield b"]}}"
