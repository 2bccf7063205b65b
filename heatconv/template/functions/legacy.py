# SPDX-License-Identifier: Apache-2.0
"""CloudFormation's functions; version 2013-05-23 of HOT has them too."""

from __future__ import annotations

import json
import re
from typing import Any

from heatconv.template.functions.arguments import (
    FunctionError,
    function,
    need_list,
    need_map,
    need_text,
    select,
    text_of,
    too_big,
)
from heatconv.template.functions.text import substitute
from heatconv.template.limits import CHARACTERS_PER_UNIT, MAX_WEIGHT
from heatconv.template.problems import excerpt, kind_of

_INDEX = re.compile(r"-?[0-9]{1,9}\Z")
_MEMBER = re.compile(r"\.member\.(\d+)\.(\w+)\Z")


@function("Fn::Select")
def fn_select(index: Any, collection: Any) -> Any:
    """Return the item of a list or a map (or of the JSON of one) at an index or a key."""
    if isinstance(collection, str) and collection:
        try:
            collection = json.loads(collection)
        except (ValueError, RecursionError):
            raise FunctionError(f"It has to be a list or a map, not {excerpt(collection)}.", 1) from None
    if collection not in (None, "") and not isinstance(collection, list | dict):
        raise FunctionError(f"It has to be a list or a map, not {kind_of(collection)}.", 1)
    if isinstance(collection, list) and not _INDEX.match(str(index)):
        raise FunctionError(f"The index of a list has to be a number, not {excerpt(index)}.", 0)
    return select(collection, [index], "")


@function("Fn::Join")
def fn_join(delimiter: Any, texts: Any) -> str:
    """Join the texts of a list, with a delimiter between them."""
    separator = need_text(delimiter, 0)
    items = [text_of(item, 1, index, json_allowed=False) for index, item in enumerate(need_list(texts, 1))]
    if sum(map(len, items)) + len(separator) * len(items) > MAX_WEIGHT * CHARACTERS_PER_UNIT:
        raise FunctionError(too_big("Fn::Join"))
    return separator.join(items)


@function("Fn::Split")
def fn_split(delimiter: Any, text: Any) -> list[str]:
    """Split a text at a delimiter."""
    if not need_text(delimiter, 0):
        raise FunctionError("The delimiter must not be empty.", 0)
    return need_text(text, 1).split(delimiter, MAX_WEIGHT + 1)


@function("Fn::Replace")
def fn_replace(params: Any, text: Any) -> str:
    """Replace each key of a map in a text by its value."""
    values = {key: text_of(value, 0, key, json_allowed=False) for key, value in need_map(params, 0).items()}
    return substitute(need_text(text, 1), values, 0)[0]


@function("Fn::Base64", takes_value=True)
def fn_base64(value: Any) -> str:
    """Return the text as it is: whoever needs it encoded encodes it."""
    return need_text(value)


@function("Fn::GetAZs", takes_value=True)
def fn_get_azs(_region: Any) -> list[str]:
    """Return the names of the availability zones."""
    # A template is evaluated without asking the cloud; nova is the zone that every cloud starts with.
    return ["nova"]


@function("Fn::MemberListToMap")
def fn_member_list_to_map(key_name: Any, value_name: Any, members: Any) -> dict[str, Any]:
    """Turn a list of .member.N.key=value texts into a map."""
    names = {need_text(key_name, 0): "key", need_text(value_name, 1): "value"}
    rows: dict[str, dict[str, str]] = {}
    for index, item in enumerate(need_list(members, 2)):
        place, _, value = need_text(item, 2, index).partition("=")
        match = _MEMBER.match(place)
        if match is None or match.group(2) not in names:
            raise FunctionError(f"{excerpt(item)} is not like '.member.0.{key_name}=text'.", 2, index)
        rows.setdefault(match.group(1), {})[names[match.group(2)]] = value
    return {row["key"]: row.get("value", "") for row in rows.values() if "key" in row}
