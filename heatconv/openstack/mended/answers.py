# SPDX-License-Identifier: Apache-2.0
"""Neutron's client: its errors tell when a service asks to be asked again, and a POST's answer counts.

Heat's plugins look at what they have made at once, of which the answer has told all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

CREATE = "_create"  #: the method of Heat's that makes a client
LATELY = 1.0  #: seconds for which an answer to a POST is what the thing is
REFUSE = "_handle_fault_response"  #: the client's method that raises what an answer says


def tell_when_to_come_back(plugin: Any) -> None:
    """Let the errors of the clients that a plugin makes have ``retry_after``."""
    plain, exceptions = getattr(plugin, CREATE), plugin.exceptions_module

    def create_client(self: Any, *args: Any, **kwargs: Any) -> Any:
        client = plain(self, *args, **kwargs)
        refuse = getattr(client, REFUSE)

        def told(status_code: int, response_body: Any, response: Any) -> None:
            try:
                refuse(status_code, response_body, response)
            except exceptions.NeutronClientException as error:
                error.retry_after = response.headers.get("Retry-After")
                raise

        setattr(client, REFUSE, told)
        return client

    setattr(plugin, CREATE, create_client)


def believes_what_it_is_told(plugin: Any) -> None:
    """Let the clients that a plugin makes not ask for what they were told in answer to their last request."""
    plain = getattr(plugin, CREATE)

    def create_client(self: Any, *args: Any, **kwargs: Any) -> Any:
        client = plain(self, *args, **kwargs)
        client.do_request = _believing(client.do_request)
        return client

    setattr(plugin, CREATE, create_client)


def _believing(request: Callable[..., Any]) -> Callable[..., Any]:
    """Return what sends requests, but for a GET that follows the POST which made the thing."""
    told: dict[str, tuple[float, Any]] = {}  #: by path; of the last request alone

    def believing(method: str, action: str, body: Any = None, headers: Any = None, params: Any = None) -> Any:
        at, answer = told.pop(action, (0.0, None))
        told.clear()
        if method == "GET" and not params and time.monotonic() < at + LATELY:
            return answer
        answer = request(method, action, body=body, headers=headers, params=params)
        if method == "POST" and isinstance(answer, dict):
            made = [thing["id"] for thing in answer.values() if isinstance(thing, dict) and "id" in thing]
            told.update({f"{action}/{each}": (time.monotonic(), answer) for each in made})
        return answer

    return believing
