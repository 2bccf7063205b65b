# SPDX-License-Identifier: Apache-2.0
"""Neutron's client: its errors tell when a service asks to be asked again, and what it answers counts.

Heat's plugins look at once at what they have made, of which the answer has told all, and
for what they have deleted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

CREATE = "_create"  #: the method of Heat's that makes a client
LATELY = 1.0  #: seconds for which an answer to a POST, or a DELETE, is what the thing is
#: What is gone when Neutron has answered its DELETE; other things, of which other daemons
#: have to let go first, are there for a while.
GONE_AT_ONCE = frozenset({"floatingips", "networks", "ports", "routers", "security-groups", "subnets"})
REFUSE = "_handle_fault_response"  #: the client's method that raises what an answer says


def says_when_to_come_back(plugin: Any) -> None:
    """Let the errors of the clients that a plugin makes have ``retry_after``."""
    plain, exceptions = getattr(plugin, CREATE), plugin.exceptions_module

    def create_client(self: Any, *args: Any, **kwargs: Any) -> Any:
        client = plain(self, *args, **kwargs)
        refuse = getattr(client, REFUSE)

        def refuse_with_pause(status_code: int, response_body: Any, response: Any) -> None:
            try:
                refuse(status_code, response_body, response)
            except exceptions.NeutronClientException as error:
                error.retry_after = response.headers.get("Retry-After")
                raise

        setattr(client, REFUSE, refuse_with_pause)
        return client

    setattr(plugin, CREATE, create_client)


def believes_its_answers(plugin: Any) -> None:
    """Let the clients that a plugin makes not ask for what they were told in answer to their last request."""
    plain = getattr(plugin, CREATE)

    def create_client(self: Any, *args: Any, **kwargs: Any) -> Any:
        client = plain(self, *args, **kwargs)
        client.do_request = _believing(client.do_request, plugin.exceptions_module.NotFound)
        return client

    setattr(plugin, CREATE, create_client)


def _believing(request: Callable[..., Any], not_found: type[Exception]) -> Callable[..., Any]:
    """Return what sends requests, but for a GET that follows what made the thing, or removed it."""
    answers: dict[str, tuple[float, Any]] = {}  #: by path; of the last request alone; None: it is gone

    def believing(method: str, action: str, body: Any = None, headers: Any = None, params: Any = None) -> Any:
        at, answer = answers.pop(action, (0.0, None))
        answers.clear()
        if method == "GET" and not params and time.monotonic() < at + LATELY:
            if answer is None:
                raise not_found
            return answer
        answer = request(method, action, body=body, headers=headers, params=params)
        if method == "POST" and isinstance(answer, dict):
            made = [thing["id"] for thing in answer.values() if isinstance(thing, dict) and "id" in thing]
            answers.update({f"{action}/{each}": (time.monotonic(), answer) for each in made})
        elif method == "DELETE" and _collection(action) in GONE_AT_ONCE:
            answers[action] = (time.monotonic(), None)
        return answer

    return believing


def _collection(path: str) -> str | None:
    """Return what ``/things/an-id`` is one of."""
    parts = path.split("/")
    return parts[1] if len(parts) == 3 else None
