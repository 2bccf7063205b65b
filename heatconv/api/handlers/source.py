# SPDX-License-Identifier: Apache-2.0
"""From the body that describes a stack to the engine's *source* and *options*."""

from __future__ import annotations

from typing import Any

from heatconv import errors
from heatconv.api import body as bodies
from heatconv.api.call import Call
from heatconv.api.schemas import stacks as schemas
from heatconv.rpc.engine_client import Json

_SOURCE_KEYS = ("template", "environment", "environment_files", "files", "parameters", "clear_parameters")
_REFUSED = {
    "template_url": "template_url is not supported: the service fetches nothing; send the text itself.",
    "files_container": "files_container is not supported: send the texts as 'files'.",
}


def create(call: Call) -> tuple[str, Json, Json]:
    """Return name, source and options of a stack to be made, or made of what is there already."""
    body = _given(call)
    if truth(body.get("converge")):
        raise errors.BadRequest("'converge' is for updates; there is nothing yet to converge with.")
    options = {"disable_rollback": True, "tags": [], **_options(body)}
    if "adopt_stack_data" not in body:
        return body["stack_name"], _complete_source(body), options
    adopted = _adopted(body["adopt_stack_data"])
    return body["stack_name"], _source(body), options | {"adopt": adopted}


def update(call: Call) -> tuple[Json, Json]:
    """Return source and options of a PUT: tags that are not given are dropped."""
    body = _given(call)
    return _complete_source(body), {"tags": [], **_options(body)}


def patch(call: Call) -> tuple[Json, Json]:
    """Return source and options of a PATCH: what is not given stays as it is."""
    body = _given(call)
    return _source(body), _options(body)


def validate(call: Call) -> Json:
    """Return the source to be validated."""
    return _complete_source(_given(call))


def truth(value: Any) -> bool:
    """Return what clients mean by true, 'True', false, 'False' or nothing."""
    return str(value).lower() == "true"


def _given(call: Call) -> Json:
    body = {key: value for key, value in call.body.items() if value is not None}
    for key, sentence in _REFUSED.items():
        if body.get(key):
            raise errors.NotSupported(sentence)
    return body


def _adopted(text: str) -> Json:
    data = bodies.parse(text, "adopt_stack_data")
    return bodies.checked(data, schemas.ADOPTED, "adopt_stack_data")


def _source(body: Json) -> Json:
    return {key: body[key] for key in _SOURCE_KEYS if key in body}


def _complete_source(body: Json) -> Json:
    if not body.get("template"):
        raise errors.BadRequest("The request body lacks 'template'.")
    empty: Json = {"environment": None, "environment_files": [], "files": {}, "parameters": {}}
    return empty | _source(body)


def _options(body: Json) -> Json:
    options: dict[str, Any] = {}
    if "timeout_mins" in body:
        options["timeout_mins"] = int(body["timeout_mins"]) or None
    if "disable_rollback" in body:
        options["disable_rollback"] = truth(body["disable_rollback"])
    if "tags" in body:
        options["tags"] = [tag.strip() for tag in body["tags"].split(",") if tag.strip()]
    if "convergence" in body:
        options["convergence"] = {
            key: value for key, value in body["convergence"].items() if value is not None
        }
    if truth(body.get("converge")):
        options["converge"] = True
    return options
