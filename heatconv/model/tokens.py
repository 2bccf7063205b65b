# SPDX-License-Identifier: Apache-2.0
"""Tokens as they can be saved: a plugin gets back exactly what it returned, or nothing.

What JSON would change without a word (a map of another class, a key that is a
number, an object) is not saved at all: a plugin that is handed something else
than its token may do anything.  Tuples are the exception that is worth it.
"""

from __future__ import annotations

import math
from typing import Any

_SCALARS = (str, int, bool, type(None))


class NotSaved(ValueError):
    """A token has a part that JSON cannot hold as it is; the text names the part's class."""


def copied(token: Any) -> Any:
    """Return a copy of a token that can be saved.

    Raises:
        NotSaved: it cannot be.
    """
    kind = type(token)
    if kind in _SCALARS or (kind is float and math.isfinite(token)):
        return token
    if kind in (list, tuple):
        return kind(copied(part) for part in token)
    if kind is dict and all(type(key) is str for key in token):
        return {key: copied(part) for key, part in token.items()}
    raise NotSaved(kind.__name__)


def has_tuples(token: Any) -> bool:
    """Tell whether there is a tuple in a token that can be saved."""
    if isinstance(token, dict):
        token = token.values()
    elif not isinstance(token, list):
        return isinstance(token, tuple)
    return any(map(has_tuples, token))


def encoded(token: Any) -> Any:
    """Return a token that can be saved as JSON that tells its tuples from its lists."""
    if isinstance(token, tuple):
        return {"tuple": [encoded(part) for part in token]}
    if isinstance(token, dict):
        return {"map": {key: encoded(part) for key, part in token.items()}}
    if isinstance(token, list):
        return [encoded(part) for part in token]
    return token


def decoded(data: Any) -> Any:
    """Return the token that ``encoded`` made ``data`` of."""
    if isinstance(data, list):
        return [decoded(part) for part in data]
    if not isinstance(data, dict):
        return data
    if "tuple" in data:
        return tuple(decoded(part) for part in data["tuple"])
    return {key: decoded(part) for key, part in data["map"].items()}
