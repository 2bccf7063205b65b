# SPDX-License-Identifier: Apache-2.0
"""Reading request bodies: size, type, JSON, then a JSON Schema.

Every refusal is one sentence that names the place.  A property's
``description`` in a schema completes the sentence "it has to be ...".
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Never

import falcon
import jsonschema

from heatconv import errors

BODY = "request body"
JSON_TYPE = "application/json"
_CHUNK = 65536
_DEPTH = 100  #: of nested objects and lists; no template comes near
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  #: NUL, and halves of a surrogate pair
_DRAINED = 16 * 1024 * 1024  #: what is read of a body that is too large, so that its sender hears the answer


def read(request: falcon.Request, limit: int) -> dict[str, Any]:
    """Return the JSON object of a request's body; no body is an empty object."""
    text = _received(request, limit)
    if not text:
        return {}
    content_type = _type(request)
    # Any other a browser sends for a page of somebody else, and asks nobody before.
    if content_type != JSON_TYPE:
        raise errors.BadRequest(
            f"The request body is of type '{content_type}'; send JSON and the header "
            f"'Content-Type: {JSON_TYPE}'."
        )
    return parse(text)


def read_if_object(request: falcon.Request, limit: int) -> dict[str, Any]:
    """Return the JSON object of a request's body, of any type; a body that is none is an empty object.

    Guests and alarms post whatever they like; that they post is what counts.
    """
    text = _received(request, limit)
    if not text.lstrip().startswith(b"{"):
        return {}
    try:
        return parse(text)
    except errors.BadRequest:
        if _type(request) in ("", JSON_TYPE):
            raise  # it was meant to be one
        return {}


def _received(request: falcon.Request, limit: int) -> bytes:
    if (request.content_length or 0) > limit:
        _drain(request)
        raise errors.RequestLimitExceeded(
            f"The request body has {request.content_length} bytes; at most {limit} are accepted."
        )
    return bytes(request.bounded_stream.read())


def _type(request: falcon.Request) -> str:
    return (request.content_type or "").partition(";")[0].strip().lower()


def checked(body: dict[str, Any], schema: Mapping[str, Any], what: str = BODY) -> dict[str, Any]:
    """Return a JSON object if it obeys the schema, and refuse it otherwise; ``what`` it is called."""
    problem = next(iter(jsonschema.Draft202012Validator(schema).iter_errors(body)), None)
    if problem is not None:
        raise errors.BadRequest(_sentence(problem, what))
    return body


def parse(text: bytes | str, what: str = BODY) -> dict[str, Any]:
    """Return the JSON object that a text is; ``what`` it is called."""
    try:
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text), "surrogatepass")
        body = json.loads(
            text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_unique
        )
    except json.JSONDecodeError as error:
        raise errors.BadRequest(
            f"The {what} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    except UnicodeDecodeError as error:
        raise errors.BadRequest(f"The {what} is not UTF-8 text: see its byte {error.start}.") from error
    except _NotJson as error:
        raise errors.BadRequest(f"The {what} {error}") from error
    except RecursionError as error:
        raise errors.BadRequest(_too_deep(what)) from error
    except ValueError as error:  # of a number with thousands of digits
        raise errors.BadRequest(f"The {what} has a number that is too long.") from error
    if not isinstance(body, dict):
        raise errors.BadRequest(f"The {what} has to be a JSON object, '{{...}}'.")
    _check_depth(body, what)
    if "\\u" in text or not text.isascii():  # of other texts JSON itself takes no such character
        _check_characters(body, what)
    return body


class _NotJson(Exception):
    """What Python's parser would take and JSON does not have."""


def _too_deep(what: str) -> str:
    return f"The {what} is nested too deeply: at most {_DEPTH} levels are accepted."


def _check_depth(body: dict[str, Any], what: str) -> None:
    """Refuse what is nested deeper than a recursive reader can take."""
    level: list[Any] = [body]
    for _depth in range(1, _DEPTH):
        level = [item for around in level for item in _inside(around) if isinstance(item, dict | list)]
        if not level:
            return
    if any(level):
        raise errors.BadRequest(_too_deep(what))


def _inside(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _check_characters(body: dict[str, Any], what: str) -> None:
    """Refuse what JSON can say in a text but a database cannot take."""
    pending: list[Any] = [body]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += value
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str) and (found := _UNSTORABLE.search(value)):
            # What is around it may be secret.
            raise errors.BadRequest(
                f"The {what} has a character that no text may have: U+{ord(found[0]):04X}."
            )


def _refuse_constant(name: str) -> Never:
    raise _NotJson(f"is not JSON: {name} is not a JSON number.")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise _NotJson("has a number that is too large.")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise _NotJson(f"has the key '{twice[:100]}' twice in the same object.")
    return found


def _drain(request: falcon.Request) -> None:
    left = _DRAINED
    while left > 0 and (chunk := request.bounded_stream.read(min(_CHUNK, left))):
        left -= len(chunk)


def _sentence(problem: jsonschema.ValidationError, what: str) -> str:
    place = _place(problem.absolute_path)
    where = f"'{place}' in the {what}" if place else f"The {what}"
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
