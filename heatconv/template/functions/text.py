# SPDX-License-Identifier: Apache-2.0
"""Template functions that make texts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

from heatconv.model.work import TOO_MUCH_WORK, may_work
from heatconv.template.functions.arguments import (
    FunctionError,
    function,
    need_list,
    need_map,
    need_text,
    text_of,
    too_big,
)
from heatconv.template.limits import CHARACTERS_PER_UNIT, CHARACTERS_SEARCHED_PER_UNIT, MAX_WEIGHT
from heatconv.template.problems import Step, excerpt, kind_of

_MAX_CHARACTERS = MAX_WEIGHT * CHARACTERS_PER_UNIT
_MAX_VALUES = 4 * _MAX_CHARACTERS  # of JSON that is made of maps and lists to be put into a text
_PRIVATE_USE = range(0xF0000, 0xFFFFE)  # a plane of characters that stand for nothing
_MAX_SCANNED = 500_000_000  # characters that one substitution may look at, all keys together

# A fixed-length digest of a short name; those of variable length need one more argument.
_ALGORITHMS = sorted(name for name in hashlib.algorithms_guaranteed if not name.startswith("shake"))


@function("list_join", since="2013-05-23")
def list_join_one(delimiter: Any, texts: Any) -> str:
    """Join the texts of a list, with a delimiter between them."""
    return _join(delimiter, [texts], json_allowed=False)


@function("list_join")
def list_join(delimiter: Any, texts: Any, *more: Any) -> str:
    """Join the items of one or more lists, with a delimiter between them."""
    return _join(delimiter, [texts, *more], json_allowed=True)


def _join(delimiter: Any, lists: list[Any], *, json_allowed: bool) -> str:
    separator = need_text(delimiter, 0)
    texts = []
    left = _MAX_CHARACTERS
    for number, items in enumerate(lists, 1):
        for index, item in enumerate(need_list(items, number)):
            text = text_of(item, number, index, json_allowed=json_allowed)
            left -= len(text) + len(separator)
            if left < 0:
                raise FunctionError(too_big("list_join"))
            texts.append(text)
    return separator.join(texts)


@function("str_split")
def str_split(delimiter: Any, text: Any, index: Any = None) -> Any:
    """Split a text at a delimiter; with an index, return that part."""
    if not need_text(delimiter, 0):
        raise FunctionError("The delimiter must not be empty.", 0)
    parts = need_text(text, 1).split(delimiter, MAX_WEIGHT + 1)
    if index is None:
        return parts
    try:
        number = int(index)
    except (TypeError, ValueError):
        raise FunctionError(f"The index has to be a number, not {excerpt(index)}.", 2) from None
    if not 0 <= number < len(parts):
        raise FunctionError(f"The index is {number}, but it has to be from 0 to {len(parts) - 1}.", 2)
    return parts[number]


# -- str_replace -------------------------------------------------------------------------


@function("str_replace", since="2013-05-23")
def str_replace_plain(*, template: Any, params: Any) -> str:
    """Replace each key of params in a text by its value."""
    return _replace(template, params, lambda value, key: text_of(value, "params", key, json_allowed=False))[0]


@function("str_replace")
def str_replace(*, template: Any, params: Any) -> str:
    """Replace each key of params in a text by its value; maps and lists as JSON."""
    return _replace(template, params, lambda value, _key: text_of(value))[0]


@function("str_replace_strict")
def str_replace_strict(*, template: Any, params: Any) -> str:
    """Like str_replace; a key that the text does not have is an error."""
    return _all_used(*_replace(template, params, lambda value, _key: text_of(value)))


@function("str_replace_vstrict")
def str_replace_vstrict(*, template: Any, params: Any) -> str:
    """Like str_replace_strict; a value that is null or empty is an error too."""
    return _all_used(*_replace(template, params, _not_empty))


def _not_empty(value: Any, key: str) -> str:
    text = text_of(value)
    if not text:
        raise FunctionError("It must not be null or empty.", "params", key)
    return text


def _all_used(text: str, unused: list[str]) -> str:
    if unused:
        raise FunctionError(f"The text does not have {', '.join(unused)}.", "params")
    return text


def _replace(template: Any, params: Any, convert: Callable[[Any, str], str]) -> tuple[str, list[str]]:
    mapping = need_map(params, "params")
    values = {}
    left = _MAX_VALUES
    for key, value in mapping.items():
        values[key] = convert(value, key)
        left -= len(values[key]) if isinstance(value, dict | list) else 0
        if left < 0:
            raise FunctionError(too_big("The JSON of its params"), "params")
    return substitute(need_text(template, "template"), values, "params")


def substitute(text: str, values: dict[str, str], *path: Step) -> tuple[str, list[str]]:
    """Return a text with keys replaced by their values, and the keys it does not have.

    The longest key goes first everywhere, and what was put in is not looked at
    again.  So each key is replaced by a character of its own that occurs
    nowhere else, and those characters by the values at the end, all at once.
    ``path`` leads to the values, for errors.
    """
    if len(values) * len(text) > _MAX_SCANNED:
        raise FunctionError("There are too many keys for a text of this length.", *path)
    if not may_work(len(values) * len(text) // CHARACTERS_SEARCHED_PER_UNIT):
        raise FunctionError(TOO_MUCH_WORK)
    taken = set(text).union(*values)
    marks = (chr(code) for code in _PRIVATE_USE if chr(code) not in taken)
    marked: dict[str, str] = {}
    unused = []
    for key in sorted(sorted(values), key=len, reverse=True):
        if not key:
            raise FunctionError("A key must not be empty.", *path)
        if key not in text:
            unused.append(key)
            continue
        mark = next(marks, "")
        if not mark:
            raise FunctionError("There are too many keys.", *path)
        text = text.replace(key, mark)
        marked[mark] = values[key]
    _check_length(text, marked)
    return text.translate({ord(mark): value for mark, value in marked.items()}), sorted(unused)


def _check_length(text: str, values: dict[str, str]) -> None:
    if len(text) * max(map(len, values.values()), default=0) <= _MAX_CHARACTERS:
        return
    if sum(len(values.get(mark, mark)) * count for mark, count in Counter(text).items()) > _MAX_CHARACTERS:
        raise FunctionError(too_big("str_replace"))


# -- digests and addresses ---------------------------------------------------------------


@function("digest")
def digest(algorithm: Any, value: Any) -> str:
    """Return the hexadecimal digest of a text, given the name of an algorithm."""
    if algorithm not in _ALGORITHMS:
        known = ", ".join(_ALGORITHMS)
        raise FunctionError(f"{excerpt(algorithm)} is no algorithm here; there are {known}.", 0)
    try:
        data = need_text(value, 1).encode("latin-1")
    except UnicodeEncodeError:
        raise FunctionError("It has characters outside of Latin-1, of which there is no digest.", 1) from None
    return hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()


@function("make_url")
def make_url(
    *,
    scheme: Any = None,
    username: Any = None,
    password: Any = None,
    host: Any = None,
    port: Any = None,
    path: Any = None,
    query: Any = None,
    fragment: Any = None,
) -> str:
    """Put a URL together from its parts, escaping what needs it."""
    parts = {"scheme": scheme, "username": username, "password": password, "host": host}
    texts = {name: _url_part(value, name) for name, value in parts.items()}
    if any(mark in texts["scheme"] for mark in ":/?#"):
        raise FunctionError("A scheme has none of : / ? #.", "scheme")
    if texts["password"] and not texts["username"]:
        raise FunctionError("A password needs a username.", "password")
    if texts["username"] and not texts["host"]:
        raise FunctionError("A username needs a host.", "username")
    url = f"{texts['scheme']}:" if texts["scheme"] else ""
    place = _url_part(path, "path")
    if texts["host"]:
        url += f"//{_user(texts)}{_host(texts['host'])}{_port(port)}"
        place = place if not place or place.startswith("/") else f"/{place}"
    url += quote(place)
    if query:
        url += f"?{urlencode(need_map(query, 'query'))}"
    ending = _url_part(fragment, "fragment")
    return f"{url}#{quote(ending)}" if ending else url


def _url_part(value: Any, name: str) -> str:
    if isinstance(value, dict | list | bool):
        raise FunctionError(f"It has to be a text, not {kind_of(value)}.", name)
    return text_of(value)


def _user(texts: dict[str, str]) -> str:
    if not texts["username"]:
        return ""
    password = f":{quote(texts['password'], safe='')}" if texts["password"] else ""
    return f"{quote(texts['username'], safe='')}{password}@"


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _port(port: Any) -> str:
    if port is None or port == "":
        return ""
    try:
        number = int(port)
    except (TypeError, ValueError):
        number = 0
    if isinstance(port, bool) or not 0 < number < 65536:
        raise FunctionError(f"The port has to be a number from 1 to 65535, not {excerpt(port)}.", "port")
    return f":{number}"
