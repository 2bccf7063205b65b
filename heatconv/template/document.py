# SPDX-License-Identifier: Apache-2.0
"""YAML text to plain data, safe against hostile text.

It is built from the parser's events, one at a time, and not from PyYAML's node
graph: composing that graph recurses in C, and a deeply nested text overflows
the stack of the process.  Aliases are counted with the size they expand to,
before anything walks the expansion.  The result is what JSON can hold: keys are
texts, dates stay texts, and there are no tags.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from heatconv.template.limits import CHARACTERS_PER_UNIT, MAX_DEPTH, MAX_NODES

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset(_TAG + name for name in ("str", "timestamp", "value", "merge"))
_MERGE = object()  # the key ``<<``
_LONGEST_NUMBER = 300  # characters; arithmetic on longer ones takes quadratic time


class DocumentError(Exception):
    """A text cannot be loaded; never leaves this package.

    ``value`` is what the sentence quotes of the text that may be more than a key.
    """

    def __init__(self, sentence: str, mark: Any = None, value: str = "") -> None:
        place = f" (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else ""
        super().__init__(f"{sentence}{place}.")
        self.value = value


class _Frame:
    """A list or a map that is being filled."""

    def __init__(self, value: list[Any] | dict[str, Any], anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.nodes = 1
        self.height = 1
        self.key: Any = None  # of a map: the key whose value comes next
        self.merged: dict[str, Any] | None = None


class _Builder:
    """Builds one document out of events."""

    def __init__(self, loader: yaml.CSafeLoader) -> None:
        self._loader = loader
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int, int] | None] = {}
        self._nodes = 0
        self.result: Any = None

    def take(self, event: Any) -> None:
        """Take the next event of the document."""
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._open({}, event, "map")
        elif isinstance(event, yaml.SequenceStartEvent):
            self._open([], event, "seq")
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._close(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)

    def _scalar(self, event: Any) -> None:
        tag = event.tag
        if tag is None or tag == "!":
            tag = _resolve(self._loader, event)
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.key is None and isinstance(frame.value, dict):
            frame.key = _MERGE if tag == _TAG + "merge" else _key(_plain(tag, event))
            if frame.key in frame.value or (frame.key is _MERGE and frame.merged is not None):
                raise DocumentError(f"the key '{event.value}' is there twice", event.start_mark)
            if event.anchor:
                self._anchors[event.anchor] = (_plain(tag, event), _weight(event.value), 0)
            self._count_key(event.value, frame, event)
            return
        value, weight = _plain(tag, event), _weight(event.value)
        self._count(weight, event)
        if event.anchor:
            self._anchors[event.anchor] = (value, weight, 0)
        self._attach(value, weight, 0, event)

    def _open(self, value: list[Any] | dict[str, Any], event: Any, kind: str) -> None:
        if event.tag not in (None, "!", _TAG + kind):
            raise DocumentError(f"the tag '{event.tag}' is not supported", event.start_mark, event.tag)
        if self._frames and self._frames[-1].key is None and isinstance(self._frames[-1].value, dict):
            raise DocumentError("the key of a map has to be a text", event.start_mark)
        self._count(1, event)
        if len(self._frames) >= MAX_DEPTH:
            raise DocumentError(f"it is nested more than {MAX_DEPTH} levels deep", event.start_mark)
        if event.anchor:
            self._anchors[event.anchor] = None
        self._frames.append(_Frame(value, event.anchor))

    def _close(self, event: Any) -> None:
        frame = self._frames.pop()
        value = frame.value
        if frame.merged is not None and isinstance(value, dict):
            value = frame.merged | value
        if frame.anchor:
            self._anchors[frame.anchor] = (value, frame.nodes, frame.height)
        self._attach(value, frame.nodes, frame.height, event)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            raise DocumentError(f"the alias '*{event.anchor}' has no anchor", event.start_mark, event.anchor)
        known = self._anchors[event.anchor]
        if known is None:
            raise DocumentError(f"the alias '*{event.anchor}' contains itself", event.start_mark)
        value, nodes, height = known
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.key is None and isinstance(frame.value, dict):
            if height:
                raise DocumentError("the key of a map has to be a text", event.start_mark)
            frame.key = _key(value)
            if frame.key in frame.value:
                raise DocumentError(f"the key '{frame.key}' is there twice", event.start_mark)
            self._count_key(frame.key, frame, event)
            return
        self._count(nodes, event)
        if len(self._frames) + height > MAX_DEPTH:
            raise DocumentError(f"it is nested more than {MAX_DEPTH} levels deep", event.start_mark)
        self._attach(value, nodes, height, event)

    def _count_key(self, key: str, frame: _Frame, event: Any) -> None:
        weight = len(key) // CHARACTERS_PER_UNIT
        frame.nodes += weight
        self._count(weight, event)

    def _count(self, nodes: int, event: Any) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise DocumentError(
                f"it has more than {MAX_NODES} values once aliases are expanded", event.start_mark
            )

    def _attach(self, value: Any, nodes: int, height: int, event: Any) -> None:
        if not self._frames:
            self.result = value
            return
        frame = self._frames[-1]
        frame.nodes += nodes
        frame.height = max(frame.height, height + 1)
        if isinstance(frame.value, list):
            frame.value.append(value)
            return
        if frame.key is _MERGE:
            frame.merged = _merged(value, event)
        else:
            frame.value[frame.key] = value
        frame.key = None


def load_document(text: str) -> Any:
    """Return the data of a YAML (or JSON) text; an empty text is None.

    Raises:
        DocumentError: the text is not YAML, has several documents, repeats a
            key, is nested too deep, expands to too much, or holds what JSON
            cannot.
    """
    try:
        loader = yaml.CSafeLoader(text)
    except UnicodeEncodeError as error:
        raise DocumentError("it has characters that are not valid Unicode") from error
    builder = _Builder(loader)
    try:
        documents = 0
        for event in _events(loader):
            documents += isinstance(event, yaml.DocumentStartEvent)
            if documents > 1:
                raise DocumentError("it has more than one document", event.start_mark)
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        reason = ", ".join(part for part in (error.context, error.problem) if part)
        raise DocumentError(f"it is not valid YAML, {reason}", error.problem_mark) from error
    except yaml.YAMLError as error:
        raise DocumentError(f"it is not valid YAML, {' '.join(str(error).split())}") from error
    finally:
        loader.dispose()
    return builder.result


def _weight(text: str) -> int:
    return 1 + len(text) // CHARACTERS_PER_UNIT


def _events(loader: yaml.CSafeLoader) -> Iterator[Any]:
    while loader.check_event():
        yield loader.get_event()


def _resolve(loader: Any, event: Any) -> str:
    """Return the tag that YAML gives to a scalar without one, by the look of it."""
    return str(loader.resolve(yaml.ScalarNode, event.value, event.implicit))


def _plain(tag: str, event: Any) -> Any:
    """Return the value of a scalar."""
    if tag in _TEXT_TAGS:
        return event.value
    try:
        return _CONSTRUCTORS[tag](event.value)
    except KeyError:
        raise DocumentError(f"the tag '{tag}' is not supported", event.start_mark, tag) from None
    except ValueError as error:
        shown = event.value[:40]
        raise DocumentError(
            f"'{shown}' is not a value that JSON can hold", event.start_mark, shown
        ) from error


def _key(value: Any) -> str:
    """Return a scalar as JSON writes it as a key."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _merged(value: Any, event: Any) -> dict[str, Any]:
    """Return what ``<<: value`` brings into a map; earlier maps of a list win."""
    maps = value if isinstance(value, list) else [value]
    merged: dict[str, Any] = {}
    for item in reversed(maps):
        if not isinstance(item, dict):
            raise DocumentError("'<<' merges a map or a list of maps", event.start_mark)
        merged |= item
    return merged


def _integer(text: str) -> int:
    """Return an integer as YAML 1.1 writes it: 0b1, 017, 0x1f, 1_000, 1:30."""
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(text)
    digits = text.replace("_", "")
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-")
    if ":" in digits:
        total = 0
        for part in digits.split(":"):
            total = total * 60 + int(part)
        return sign * total
    for prefix, base in (("0b", 2), ("0x", 16), ("0", 8)):
        if digits.startswith(prefix) and digits != prefix:
            return sign * int(digits[len(prefix) :], base)
    return sign * int(digits)


def _number(text: str) -> float:
    """Return a floating point number as YAML 1.1 writes it; it has to be finite."""
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(text)
    digits = text.replace("_", "").lower()
    if ":" in digits:
        total = 0.0
        for part in digits.lstrip("+-").split(":"):
            total = total * 60 + float(part)
        number = -total if digits.startswith("-") else total
    else:
        number = float(digits.replace(".inf", "inf").replace(".nan", "nan"))
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _boolean(text: str) -> bool:
    try:
        return bool(yaml.SafeLoader.bool_values[text.lower()])
    except KeyError:
        raise ValueError(text) from None


_CONSTRUCTORS: dict[str, Callable[[str], Any]] = {
    f"{_TAG}null": lambda _text: None,
    f"{_TAG}bool": _boolean,
    f"{_TAG}int": _integer,
    f"{_TAG}float": _number,
}
