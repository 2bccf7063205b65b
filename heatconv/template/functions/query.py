# SPDX-License-Identifier: Apache-2.0
"""The yaql function: a query over data."""

from __future__ import annotations

from typing import Any

from heatconv.template.functions.arguments import FunctionError, function, need_text
from heatconv.template.problems import shortened

_LONGEST_REASON = 500  # characters
_BIGGEST = 10**300  # longer numbers cannot be written as text everywhere


@function("yaql")
def yaql(*, expression: Any, data: Any) -> Any:
    """Evaluate a YAQL expression over data."""
    query = need_text(expression, "expression")
    # Importing yaql and generating its parser takes longer than all other imports together.
    from heatconv.template.functions import yaql_engine  # noqa: PLC0415

    try:
        result = yaql_engine.evaluate(query, {"data": data})
    except Exception as error:  # yaql lets every kind of Python's exceptions through
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        reason = shortened(reason, _LONGEST_REASON)  # it may repeat what the data is
        raise FunctionError(f"The expression cannot be evaluated: {reason}.", "expression") from error
    return _plain(result)


def _plain(value: Any) -> Any:
    """Return a result as plain JSON data."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float):
        if abs(value) < _BIGGEST:  # which what is infinite or not a number is not
            return value
        raise FunctionError("The result has a number that is too big.", "expression")
    raise FunctionError(f"The result has a {type(value).__name__}, which is not JSON data.", "expression")
