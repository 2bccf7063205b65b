# SPDX-License-Identifier: Apache-2.0
"""Each request that changes something is carried out once, however often it is asked, and of whom.

What it was answered, refusals included, is what it is answered whenever it is asked
again.  What only reads is read again instead.
"""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from heatconv import errors
from heatconv.db.plumbing import requests
from heatconv.db.plumbing.requests import AlreadyAnswered, Request
from heatconv.db.plumbing.session import Database
from heatconv.rpc.asked import Asked
from heatconv.rpc.context import RequestContext, serving
from heatconv.rpc.serving import as_known

Method = Callable[..., Any]
Perform = Callable[[RequestContext, Mapping[str, Any], Mapping[str, Any]], Any]

PROMPT = 0.5  #: seconds after which a request may have been asked of another engine meanwhile


def endpoint(database: Database, method: Method, *, reads: bool) -> Method:
    """Return what answers a call from the bus: it takes the context as that carries it."""
    perform = _read(method) if reads else _once(database, method)

    @functools.wraps(method)  # so that the bus sees what arguments there are
    def call(context: Mapping[str, Any], **arguments: Any) -> Any:
        caller = RequestContext.from_dict(context)
        with serving(caller):
            return perform(caller, context, arguments)

    return call


def _read(method: Method) -> Perform:
    return lambda caller, _context, arguments: method(caller, **arguments)


def _once(database: Database, method: Method) -> Perform:
    def perform(caller: RequestContext, context: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
        asked = Asked.among(context)
        if asked is None:  # by who cannot ask again
            return method(caller, **arguments)
        # No clock is trusted here: at worst, what was done before is begun again, and given up.
        if asked.number > 1 or time.time() - asked.at > PROMPT:
            stored = requests.find(database, asked.id)
            if stored is not None:
                return _answer_of(stored)
        request = Request(asked.id, asked.at, asked.until(context))
        try:
            return _carried_out(database, request, lambda: method(caller, **arguments))
        except AlreadyAnswered:
            stored = requests.find(database, asked.id)
            if stored is None:
                raise errors.TransportError(reason="its answer was forgotten") from None
            return _answer_of(stored)

    return perform


def _carried_out(database: Database, request: Request, carry_out: Callable[[], Any]) -> Any:
    """Carry out a request and store what is answered to it, if that was not stored with what it did.

    Raises:
        AlreadyAnswered: it was carried out before.
        TransportError: nobody waits for the answer any more; also where it is to be decided, a while later.
    """
    request.check_time()
    try:
        with requests.carrying_out(request):
            answer = carry_out()
    except errors.UserError as error:
        requests.answer(database, request, _refusal(error))
        raise
    if not request.is_kept:
        requests.answer(database, request, {"answer": answer})
    return answer


def _refusal(error: errors.UserError) -> dict[str, Any]:
    refusal = as_known(error)
    # What the bus would make of it.
    fields = json.loads(json.dumps(refusal.kwargs, default=str))
    return {"refusal": [type(refusal).__name__, str(refusal.args[0]), fields]}


def _answer_of(stored: Mapping[str, Any]) -> Any:
    """Return the answer that was stored, or raise what was raised."""
    if "refusal" in stored:
        name, message, fields = stored["refusal"]
        raise getattr(errors, name)(message, **fields)
    return stored["answer"]
