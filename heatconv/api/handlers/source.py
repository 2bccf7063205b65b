# SPDX-License-Identifier: Apache-2.0
"""From the body that describes a stack to the engine's *source* and *options*."""

from __future__ import annotations

from typing import Any

from heatconv import errors
from heatconv.api.call import Call
from heatconv.api.schemas import stacks as schemas
from heatconv.rpc.engine_client import Json

_SOURCE_KEYS = ("template", "environment", "environment_files", "files", "parameters", "clear_parameters")
_REFUSED = {
    "template_url": "template_url is not supported: the service fetches nothing; send the text itself.",
    "files_container": "files_container is not supported: send the texts as 'files'.",
    "adopt_stack_data": "adopt_stack_data is not supported.",
    "converge": "converge is not supported.",
}


def create(call: Call) -> tuple[str, Json, Json]:
    """Return name, source and options of a stack to be made."""
    body = _read(call, schemas.CREATE)
    options = {"disable_rollback": True, "tags": [], **_options(body)}
    return body["stack_name"], _complete_source(body), options


def update(call: Call) -> tuple[Json, Json]:
    """Return source and options of a PUT: tags that are not given are dropped."""
    body = _read(call, schemas.UPDATE)
    return _complete_source(body), {"tags": [], **_options(body)}


def patch(call: Call) -> tuple[Json, Json]:
    """Return source and options of a PATCH: what is not given stays as it is."""
    body = _read(call, schemas.PATCH)
    return _source(body), _options(body)


def validate(call: Call) -> Json:
    """Return the source to be validated."""
    return _complete_source(_read(call, schemas.VALIDATE))


def _read(call: Call, schema: schemas.Schema) -> Json:
    body = {key: value for key, value in call.json(schema).items() if value is not None}
    for key, sentence in _REFUSED.items():
        if body.get(key):
            raise errors.NotSupported(sentence)
    return body


def _source(body: Json) -> Json:
    return {key: body[key] for key in _SOURCE_KEYS if key in body}


def _complete_source(body: Json) -> Json:
    if not body.get("template"):
        raise errors.BadRequest("The request body lacks 'template'.")
    empty: Json = {"environment": None, "environment_files": [], "files": {}, "parameters": {}}
    return empty | _source(body)


def _options(body: Json) -> Json:
    options: dict[str, Any] = {}
    if int(body.get("timeout_mins", 0)):
        options["timeout_mins"] = int(body["timeout_mins"])
    if "disable_rollback" in body:
        options["disable_rollback"] = str(body["disable_rollback"]).lower() == "true"
    if "tags" in body:
        options["tags"] = [tag.strip() for tag in body["tags"].split(",") if tag.strip()]
    return options
