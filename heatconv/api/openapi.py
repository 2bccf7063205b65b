# SPDX-License-Identifier: Apache-2.0
"""The API described for programs: an OpenAPI document, made of the routes and what they take.

Nothing is written down here that is not true of the code: methods and paths come
from ``routes``, queries and bodies from the handlers' contracts, words from their
docstrings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from importlib import metadata
from typing import Any

import falcon

from heatconv.api import query, routes
from heatconv.api.call import Handler
from heatconv.api.contract import Contract, contract_of
from heatconv.api.schemas import Schema, plan_document

Json = dict[str, Any]

URL = "/openapi.json"
BELOW = "/v1/{project}"  #: where the routes are

#: What is meant by a part of a path.
_PLACES = {
    "project": "The id of the project.",
    "stack_name": "The name of a stack.",
    "stack_id": "The id of a stack.",
    "arn_id": "The end of an identifier arn:openstack:heat::PROJECT:stacks/NAME/ID.",
    "resource_name": "The name of a resource in its template.",
    "event_id": "The id of an event.",
    "output_key": "The name of an output.",
    "snapshot_id": "The id of a snapshot.",
    "plan_id": "The id of a plan.",
    "type_name": "The name of a resource type.",
    "version": "A template version, such as heat_template_version.2018-08-31.",
    "config_id": "The id of a software config.",
    "deployment_id": "The id of a software deployment.",
    "server_id": "The id of a server.",
}

_ERROR: Json = {
    "type": "object",
    "properties": {
        "code": {"type": "integer", "description": "The status of the answer."},
        "title": {"type": "string"},
        "explanation": {"type": "string"},
        "error": {
            "type": "object",
            "properties": {
                "type": {"type": "string", "description": "What went wrong: a name that stays."},
                "message": {"type": "string", "description": "What is wrong, where, and what to do."},
                "traceback": {"type": "null"},
            },
            "required": ["type", "message", "traceback"],
        },
    },
    "required": ["code", "title", "explanation", "error"],
}


class Document:
    """The URL of the document; nobody has to say who they are."""

    @staticmethod
    def on_get(request: falcon.Request, response: falcon.Response) -> None:
        """Answer with the document."""
        response.media = describe(request.context.base)


def describe(server: str) -> Json:
    """Return the document; ``server`` is the URL that all of its paths begin with."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "heatconv",
            "version": metadata.version("heatconv"),
            "description": "OpenStack's Orchestration API v1. Every path is there below /v1.0 too.",
        },
        "servers": [{"url": server}],
        "security": [{"token": []}],
        "paths": {f"{BELOW}{url}": _path(url, handlers) for url, handlers in routes.ROUTES.items()},
        "components": {
            "schemas": {"Error": _ERROR, "Plan": published(plan_document.PLAN)},
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": "X-Auth-Token"}},
        },
    }


def _path(url: str, handlers: Mapping[str, Handler]) -> Json:
    names = re.findall(r"\{(\w+)\}", BELOW + url)
    places = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _PLACES[name],
            "schema": {"type": "string", "minLength": 1},
        }
        for name in names
    ]
    operations = {method.lower(): _operation(method, url, handler) for method, handler in handlers.items()}
    return {"parameters": places, **operations}


def _operation(method: str, url: str, handler: Handler) -> Json:
    contract = contract_of(handler)
    operation: Json = {
        "operationId": "_".join([method.lower(), *re.findall(r"\w+", url)]),
        "summary": (handler.__doc__ or "").partition("\n")[0],
        "tags": [handler.__module__.rpartition(".")[2]],
        "parameters": list(_parameters(contract)),
        "responses": _responses(method, contract.answers),
    }
    if contract.body is not None:
        operation["requestBody"] = {
            "required": "required" in contract.body,
            "content": {"application/json": {"schema": published(contract.body)}},
        }
    return operation


def _parameters(contract: Contract) -> Iterator[Json]:
    for name, key in contract.query.items():
        yield {"name": name, "in": "query", "description": key.description, "schema": _schema(key)}


def _schema(key: query.Key) -> Schema:
    if key.many or key.filters:
        return {"type": "array", "items": key.schema}
    return key.schema | ({} if key.default is None else {"default": key.default})


def _responses(method: str, status: HTTPStatus) -> Json:
    answer: Json = {"description": status.phrase}
    if status != HTTPStatus.NO_CONTENT:
        answer["content"] = {"application/json": {}}
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    unchanged: Json = {"304": {"description": "The client has the answer."}} if method == "GET" else {}
    return {
        str(status.value): answer,
        **unchanged,
        "default": {"description": "An error.", "content": error},
    }


def published(schema: Schema) -> Any:
    """Return a schema whose patterns end as all the world's do, not as Python's."""
    return json.loads(json.dumps(schema).replace(r"\\Z", "$"))
