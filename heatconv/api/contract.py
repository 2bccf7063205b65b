# SPDX-License-Identifier: Apache-2.0
"""What a request has to look like, declared beside the function that answers it.

``@takes`` reads query and body as declared before the function sees the call;
``heatconv.api.openapi`` tells the world of the same declarations.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

from heatconv.api import body, query
from heatconv.api.call import Answer, Call, Handler
from heatconv.api.schemas import Schema


@dataclass(frozen=True, kw_only=True)
class Contract:
    """What a handler takes, and the status of its answer."""

    query: query.Keys = field(default_factory=dict)
    no_other_query: bool = False  #: an unknown key is refused instead of ignored
    body: Schema | None = None
    any_body: bool = False  #: one of any ``Content-Type``, and none if it is no JSON object
    answers: HTTPStatus = HTTPStatus.OK
    of_tree: bool = False  #: it takes ``nested``: who waits, waits for what is nested in the stack too
    of_project: bool = False  #: its answer is the same for all in a project who may ask for it

    def read(self, call: Call) -> Call:
        """Return a call with its query and its body.

        Raises:
            UserError: one of them is not as declared.
        """
        params: Mapping[str, Any] = call.request.params
        if self.no_other_query:
            query.refuse_others(params, self.query)
        found = query.read(params, self.query)
        if self.body is None:
            return replace(call, query=found)
        sent = call.posted if self.any_body else call.sent
        return replace(call, query=found, body=body.checked(sent, self.body))


_CONTRACTS: dict[Handler, Contract] = {}


def takes(**declared: Any) -> Callable[[Handler], Handler]:
    """Declare the ``Contract`` of a handler; its calls come with ``query`` and ``body`` read."""
    contract = Contract(**declared)

    def declare(function: Handler) -> Handler:
        @functools.wraps(function)
        def handle(call: Call, **place: Any) -> Answer:
            return function(contract.read(call), **place)

        _CONTRACTS[handle] = contract
        return handle

    return declare


def contract_of(handler: Handler) -> Contract:
    """Return what a handler takes: nothing, unless it declares otherwise."""
    return _CONTRACTS.get(handler, Contract())
