# SPDX-License-Identifier: Apache-2.0
"""Reading request bodies: size, type, JSON, then a JSON Schema.

Every refusal is one sentence that names the place.  A property's
``description`` in a schema completes the sentence "it has to be ...".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Never

import falcon
import jsonschema

from heatconv import errors

JSON_TYPES = {"", "application/json", "text/plain"}
_CHUNK = 65536
_DEPTH = 100  #: of nested objects and lists; no template comes near
_TOO_DEEP = f"The request body is nested too deeply: at most {_DEPTH} levels are accepted."
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  #: NUL, and halves of a surrogate pair
_DRAINED = 16 * 1024 * 1024  #: what is read of a body that is too large, so that its sender hears the answer


def read(request: falcon.Request, limit: int) -> dict[str, Any]:
    """Return the JSON object of a request's body; no body is an empty object."""
    if (request.content_length or 0) > limit:
        _drain(request)
        raise errors.RequestLimitExceeded(
            f"The request body has {request.content_length} bytes; at most {limit} are accepted."
        )
    text = request.bounded_stream.read()
    if not text:
        return {}
    content_type = (request.content_type or "").partition(";")[0].strip().lower()
    if content_type not in JSON_TYPES:
        raise errors.BadRequest(
            f"The request body is of type '{content_type}'; send JSON and the header "
            "'Content-Type: application/json'."
        )
    return _parse(text)


def checked(body: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body if it obeys the schema, and refuse it otherwise."""
    problem = next(iter(jsonschema.Draft202012Validator(schema).iter_errors(body)), None)
    if problem is not None:
        raise errors.BadRequest(_sentence(problem))
    return body


def _parse(text: bytes) -> dict[str, Any]:
    try:
        body = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise errors.BadRequest(
            f"The request body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    except UnicodeDecodeError as error:
        raise errors.BadRequest(f"The request body is not UTF-8 text: see its byte {error.start}.") from error
    except RecursionError as error:
        raise errors.BadRequest(_TOO_DEEP) from error
    if not isinstance(body, dict):
        raise errors.BadRequest("The request body has to be a JSON object, '{...}'.")
    _check_values(body)
    return body


def _check_values(body: dict[str, Any]) -> None:
    """Refuse what JSON can say but a database or a recursive reader cannot take."""
    pending: list[tuple[Any, int]] = [(body, 1)]
    while pending:
        value, depth = pending.pop()
        if depth > _DEPTH:
            raise errors.BadRequest(_TOO_DEEP)
        if isinstance(value, dict):
            pending += [(key, depth + 1) for key in value]
            pending += [(item, depth + 1) for item in value.values()]
        elif isinstance(value, list):
            pending += [(item, depth + 1) for item in value]
        elif isinstance(value, str) and _UNSTORABLE.search(value):
            raise errors.BadRequest(
                f"The request body has a character that no text may have, near {value[:40]!r}."
            )


def _refuse_constant(name: str) -> Never:
    raise errors.BadRequest(f"The request body is not JSON: {name} is not a JSON number.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise errors.BadRequest(f"The request body has the key '{name[:100]}' twice in the same object.")
        found[name] = value
    return found


def _drain(request: falcon.Request) -> None:
    left = _DRAINED
    while left > 0 and (chunk := request.bounded_stream.read(min(_CHUNK, left))):
        left -= len(chunk)


def _sentence(problem: jsonschema.ValidationError) -> str:
    place = _place(problem.absolute_path)
    where = f"'{place}' in the request body" if place else "The request body"
    if problem.validator == "required":
        wanted: Any = problem.validator_value
        given: Any = problem.instance
        return f"{where} lacks '{next(key for key in wanted if key not in given)}'."
    schema: Any = problem.schema
    return f"{where} has to be {schema.get('description', problem.message[:200])}."


def _place(path: Iterable[str | int]) -> str:
    place = ""
    for step in path:
        place += f"[{step}]" if isinstance(step, int) else f".{step}"
    return place.removeprefix(".")
