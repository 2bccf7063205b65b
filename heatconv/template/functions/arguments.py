# SPDX-License-Identifier: Apache-2.0
"""What every template function needs: a name, a signature, checked arguments.

A function is written as a plain Python function over evaluated values.  Its
signature says what templates have to pass: positional parameters a list,
keyword-only ones a map.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from heatconv.model.unknown import Unknown
from heatconv.template.limits import MAX_DEPTH, MAX_WEIGHT, weight_of
from heatconv.template.problems import Step, excerpt, kind_of

_LONG = 1000  # characters of JSON that somebody keeps to compare it by


class FunctionError(Exception):
    """A function cannot be computed; never leaves this package.

    ``path`` leads from the function's arguments to the wrong one.
    """

    def __init__(self, sentence: str, *path: Step) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.path = path


@dataclass(frozen=True, slots=True)
class Function:
    """A template function whose value follows from its arguments alone.

    ``name`` is the word in templates; ``key`` is the word in frozen
    definitions, which differs from the name where template versions disagree
    on what the function does.
    """

    name: str
    key: str
    summary: str
    body: Callable[..., Any]
    signature: inspect.Signature | None  #: None: the argument is one plain value

    def check(self, args: Any) -> None:
        """Check the shape of the arguments, whatever their values.

        Raises:
            FunctionError: something is missing, or there is too much.
        """
        if self.signature is None:
            return
        expected = f"{self.name} takes {self._usage()}"
        by_name = _is_map_form(self.signature)
        if by_name and not isinstance(args, dict):
            raise FunctionError(f"{expected}, not {kind_of(args)}.")
        if not by_name and not isinstance(args, list):
            raise FunctionError(f"{expected}, not {kind_of(args)}.")
        try:
            self.signature.bind(**args) if by_name else self.signature.bind(*args)
        except TypeError:
            raise FunctionError(f"{expected}.") from None

    def __call__(self, args: Any) -> Any:
        """Return the function's value.

        Raises:
            FunctionError: the arguments are wrong or the value gets too big.
        """
        self.check(args)
        if self.signature is None:
            result = self.body(args)
        else:
            result = self.body(**args) if isinstance(args, dict) else self.body(*args)
        if weight_of(result) > MAX_WEIGHT:
            raise FunctionError(too_big(self.name))
        return result

    def _usage(self) -> str:
        assert self.signature is not None  # noqa: S101  # asked for by ``check`` only
        words = []
        for parameter in self.signature.parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                words.append(f"{parameter.name}...")
            elif parameter.default is parameter.empty:
                words.append(parameter.name)
            else:
                words.append(f"{parameter.name} (optional)")
        if _is_map_form(self.signature):
            return f"a map of {', '.join(words)}"
        return f"a list of {', '.join(words)}"


def function(
    name: str, *, since: str = "", takes_value: bool = False
) -> Callable[[Callable[..., Any]], Function]:
    """Return a decorator that makes a Python function a template function.

    The docstring is what users are told about it.  ``since`` is the template
    version that gave the function this meaning, when a later one gave it
    another.
    """

    def decorate(body: Callable[..., Any]) -> Function:
        signature = None if takes_value else inspect.signature(body)
        key = f"{name}@{since}" if since else name
        return Function(name, key, inspect.getdoc(body) or "", body, signature)

    return decorate


def too_big(name: str) -> str:
    """Return the sentence about a value that outgrows its bound."""
    return (
        f"{name} would produce more than {MAX_WEIGHT} items, the like amount of text, or more than"
        f" {MAX_DEPTH} levels of nesting; make it smaller."
    )


def text_of(value: Any, *path: Step, json_allowed: bool = True) -> str:
    """Return a value as the text that is put into other texts; null is empty."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, dict | list):
        if not json_allowed:
            raise FunctionError(f"It has to be a text or a number, not {kind_of(value)}.", *path)
        return json.dumps(value)
    return str(value)


def need_text(value: Any, *path: Step) -> str:
    """Return a value that has to be a text."""
    if not isinstance(value, str):
        raise FunctionError(f"It has to be a text, not {kind_of(value)} ({excerpt(value)}).", *path)
    return value


def need_list(value: Any, *path: Step) -> list[Any]:
    """Return a value that has to be a list; null counts as an empty one."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise FunctionError(f"It has to be a list, not {kind_of(value)} ({excerpt(value)}).", *path)
    return value


def need_map(value: Any, *path: Step) -> dict[str, Any]:
    """Return a value that has to be a map; null counts as an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FunctionError(f"It has to be a map, not {kind_of(value)} ({excerpt(value)}).", *path)
    return value


def identity(value: Any) -> str:
    """Return a text that is the same for equal JSON values: their JSON, or its digest if it is long."""
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= _LONG else hashlib.sha256(text.encode()).hexdigest()


def select(value: Any, path: list[Any], missing: Any) -> Any:
    """Return what a path of keys and indexes leads to inside a value; inside one not known yet, that one."""
    for step in path:
        if isinstance(value, Unknown):
            return value
        try:
            if isinstance(value, dict):
                value = value[step] if step in value else value[str(step)]
            elif isinstance(value, list):
                value = value[int(step)]
            else:
                return missing
        except (KeyError, IndexError, ValueError, TypeError):
            return missing
    return value


def _is_map_form(signature: inspect.Signature) -> bool:
    return any(p.kind is p.KEYWORD_ONLY for p in signature.parameters.values())
