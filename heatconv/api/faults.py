# SPDX-License-Identifier: Apache-2.0
"""Errors to HTTP: the only place that knows which status an error has.

The body is Heat's: ``error.type`` is the stable code that clients match on,
``error.message`` the sentence for the user.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

import falcon

from heatconv import errors

LOG = logging.getLogger(__name__)

RETRY_AFTER = 5  #: seconds after which it makes sense to look whether the service is back

#: The most specific class wins.
STATUSES: dict[type[BaseException], HTTPStatus] = {
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    errors.UserError: HTTPStatus.BAD_REQUEST,
    errors.StorageError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.TransportError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.NotJudged: HTTPStatus.SERVICE_UNAVAILABLE,
}

EXPLANATIONS = {
    HTTPStatus.BAD_REQUEST: "The request is malformed or asks for something that cannot be.",
    HTTPStatus.FORBIDDEN: "The caller may not do this.",
    HTTPStatus.NOT_FOUND: "There is nothing at this address.",
    HTTPStatus.METHOD_NOT_ALLOWED: "The method is not known at this address; see the Allow header.",
    HTTPStatus.CONFLICT: "The request conflicts with what is there already.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "The service failed to carry out the request.",
    HTTPStatus.SERVICE_UNAVAILABLE: "A part of the service does not answer; try again later.",
}


def install(app: falcon.App[falcon.Request, falcon.Response]) -> None:
    """Answer every error of an application as Heat does."""
    app.add_error_handler(Exception, answer_error)
    app.add_error_handler(falcon.HTTPError, answer_http_error)


def answer_error(
    request: falcon.Request, response: falcon.Response, error: Exception, _params: dict[str, Any]
) -> None:
    """Answer an error that a handler raised."""
    status = next((STATUSES[cls] for cls in type(error).__mro__ if cls in STATUSES), None)
    if status is None:
        LOG.error("%s %s failed", request.method, request.path, exc_info=error)
        _answer(
            response,
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "InternalServerError",
            f"An unexpected error occurred; its cause is in the log of the API at {_request_id(request)}.",
        )
    else:
        _answer(response, status, getattr(error, "code", type(error).__name__), str(error))


def answer_http_error(
    request: falcon.Request, response: falcon.Response, error: Exception, _params: dict[str, Any]
) -> None:
    """Answer an error that the HTTP framework raised: an unknown address or method, a bad header."""
    if not isinstance(error, falcon.HTTPError):
        raise TypeError(error)
    status = HTTPStatus(error.status_code)
    sentence = error.description or f"{request.method} {request.path} is not possible: {status.phrase}."
    for name, value in dict(error.headers or ()).items():
        response.set_header(name, value)
    _answer(response, status, f"HTTP{status.phrase.replace(' ', '')}", sentence)


def _answer(response: falcon.Response, status: HTTPStatus, code: str, message: str) -> None:
    response.status = status
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        response.set_header("Retry-After", str(RETRY_AFTER))
    response.media = {
        "code": status.value,
        "title": status.phrase,
        "explanation": EXPLANATIONS.get(status, status.phrase),
        "error": {"type": code, "message": message, "traceback": None},
    }


def _request_id(request: falcon.Request) -> str:
    return str(request.context.request_id)
