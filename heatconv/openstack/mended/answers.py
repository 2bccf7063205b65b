# SPDX-License-Identifier: Apache-2.0
"""Neutron's client: its errors tell when a service asks to be asked again, which it leaves out."""

from __future__ import annotations

from typing import Any

CREATE = "_create"  #: the method of Heat's that makes a client
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
