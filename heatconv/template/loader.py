# SPDX-License-Identifier: Apache-2.0
"""Texts to templates: what is checked before anything is evaluated.

The text itself (size, syntax, repeated keys, aliases) and the outermost shape:
the version and the sections.  What the sections say is ``freeze``'s business.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from heatconv.errors import Invalid
from heatconv.model.secrets import HIDDEN
from heatconv.template.document import DocumentError, load_document
from heatconv.template.limits import BYTES_A_NODE, MAX_DEPTH, MAX_NODES, MAX_TEXT_BYTES
from heatconv.template.problems import Problems, kind_of
from heatconv.template.versions import VERSION_KEY, version_of

_TEXT = frozenset({str})


def load_yaml(text: str, what: str, *, limit: int, secret: bool = False) -> Any:
    """Return the data of a YAML or JSON text.

    Dates stay texts, keys become texts, aliases are expanded (shared, not
    copied); an empty text is None.

    Args:
        text: what the user sent.
        what: how to name it in an error, such as ``The template``.
        limit: the size, in bytes, from which the text is refused.
        secret: no mistake may repeat a value.

    Raises:
        Invalid: the text is too big, no YAML, repeats a key, is nested too
            deep, expands to too much, or holds what JSON cannot.
    """
    _check_size(text, what, limit)
    if text.lstrip().startswith(("{", "[")):
        # JSON is parsed ten times as fast; YAML gets the last word on what is wrong.
        try:
            data = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            pass
        else:
            check_data(data, what, limit=limit)
            return data
    try:
        return load_document(text)
    except DocumentError as error:
        said = str(error).replace(error.value, HIDDEN) if secret and error.value else str(error)
        raise _invalid(f"{what} cannot be read: {said}") from None


def check_data(data: Any, what: str, *, limit: int) -> None:
    """Check that data is plain JSON and within the bounds of what users may send.

    Raises:
        Invalid: it is not, or is too big or nested too deep.
    """
    nodes = 0
    most = max(MAX_NODES, limit // BYTES_A_NODE)
    level = [data]
    for _depth in range(MAX_DEPTH + 1):
        nodes += len(level)
        if nodes > most:
            raise _invalid(f"{what} has more than {most} values.")
        level = [child for item in level if isinstance(item, (dict, list)) for child in _children(item)]
        if not level:
            break
    else:
        raise _invalid(f"{what} is nested more than {MAX_DEPTH} levels deep.")
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise _invalid(f"{what} has to be plain JSON data: {error}.") from error
    _check_size(text, what, limit)


def load_template(template: dict[str, Any] | str, *, limit: int = MAX_TEXT_BYTES) -> dict[str, Any]:
    """Return a template whose version is known and whose sections have the right types.

    Raises:
        Invalid: the text cannot be loaded, or the version key or a section is
            unknown or wrong; every mistake is listed.
    """
    if isinstance(template, str):
        data = load_yaml(template, "The template", limit=limit)
    else:
        check_data(template, "The template", limit=limit)
        data = template
    if not isinstance(data, dict):
        raise _invalid(f"The template has to be a map with the key '{VERSION_KEY}', not {kind_of(data)}.")
    sections = version_of(data).sections
    problems = Problems()
    for name, section in data.items():
        if name not in sections:
            known = ", ".join(sections)
            problems.report(f"There is no section '{name}' in this version; there are {known}.", name)
        elif section is not None and not isinstance(section, sections[name]):
            problems.report(f"It has to be {kind_of(sections[name]())}, not {kind_of(section)}.", name)
    problems.raise_any()
    return data


def _children(item: dict[Any, Any] | list[Any]) -> Iterable[Any]:
    if isinstance(item, list):
        return item
    if not _TEXT.issuperset(map(type, item)):
        raise _invalid("The keys of every map have to be texts.")
    return item.values()


def _check_size(text: str, what: str, limit: int) -> None:
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        raise _invalid(f"{what} has characters that are not valid Unicode.") from error
    if size > limit:
        raise _invalid(f"{what} has {size} bytes; at most {limit} are allowed.")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("repeated key")
    return result


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _invalid(sentence: str) -> Invalid:
    return Invalid(problems=[("", sentence)])
