# SPDX-License-Identifier: Apache-2.0
"""Rules that turn one way to say something in properties into another.

Deprecated properties become those that replaced them (ADD, REPLACE, DELETE),
names become ids (RESOLVE).  Rules are applied to given values, before schemas
see them: ADD, REPLACE, RESOLVE, DELETE, each kind in the order of the list.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from heatconv.model.unknown import Unknown
from heatconv.resources import exception


class TranslationRule:
    """One rule; ``translation_path`` leads to what it changes, through lists if there are any.

    Where the new value comes from: ``value`` itself; ``value_path``, a path
    from the top; ``value_name``, a key next to the changed one; or
    ``custom_value_path``, a path from there.
    """

    RULE_KEYS = (ADD, REPLACE, DELETE, RESOLVE) = ("Add", "Replace", "Delete", "Resolve")

    def __init__(  # noqa: PLR0917  # the signature plugins know
        self,
        properties: Mapping[str, Any],
        rule: str,
        translation_path: Sequence[str],
        value: Any = None,
        value_name: str | None = None,
        value_path: Sequence[str] | None = None,
        client_plugin: Any = None,
        finder: str | None = None,
        entity: str | None = None,
        custom_value_path: Sequence[str] | None = None,
    ) -> None:
        self.properties = properties
        self.rule = rule
        self.translation_path = list(translation_path or ())
        self.value = value
        self.value_name = value_name
        self.value_path = list(value_path) if value_path else None
        self.client_plugin = client_plugin
        self.finder = finder
        self.entity = entity
        self.custom_value_path = list(custom_value_path) if custom_value_path else None
        self._check()

    def _check(self) -> None:
        sources = [
            source is not None
            for source in (self.value, self.value_name, self.value_path, self.custom_value_path)
        ]
        if self.rule not in self.RULE_KEYS:
            raise ValueError(f"There is no rule {self.rule}; use one of {', '.join(self.RULE_KEYS)}.")
        if not self.translation_path:
            raise ValueError("A translation rule needs the path to a property.")
        if self.rule == self.ADD and self.value is not None and not isinstance(self.value, list):
            raise ValueError("The value to add has to be a list.")
        if sum(sources) > 1:
            raise ValueError("A translation rule takes its value from one place only.")
        if self.rule == self.RESOLVE and not self.finder:
            raise ValueError("A rule to resolve names needs a finder.")


def translate(
    data: Mapping[str, Any],
    rules: Sequence[TranslationRule],
    *,
    lookup: bool = True,
    lenient: bool = False,
) -> dict[str, Any]:
    """Return given values with the rules applied.

    Names stay names unless they are to be looked up (``lookup``); ``lenient``
    keeps those that are not found.

    Raises:
        ResourcePropertyConflict: both the old and the new way were used.
        EntityNotFound: no service knows a name.
    """
    values: dict[str, Any] = copy.deepcopy(dict(data))
    for rule in sorted(rules, key=lambda rule: _ORDER.index(rule.rule)):
        if rule.rule != TranslationRule.RESOLVE:
            _CHANGES[rule.rule](values, rule)
        elif lookup:
            _resolve(values, rule, lenient)
    return values


#: What is deleted last is still there to take a value, or a name, from.
_ORDER = (
    TranslationRule.ADD,
    TranslationRule.REPLACE,
    TranslationRule.RESOLVE,
    TranslationRule.DELETE,
)


def _parents(values: Any, path: Sequence[str], create: bool) -> Iterator[dict[str, Any]]:
    """Yield the maps that hold the last key of a path; lists on the way are gone through."""
    if isinstance(values, list):
        for item in values:
            yield from _parents(item, path, create)
    elif isinstance(values, dict):
        if len(path) == 1:
            yield values
        else:
            if create and values.get(path[0]) is None:
                values[path[0]] = {}
            yield from _parents(values.get(path[0]), path[1:], create)


def _source(top: dict[str, Any], rule: TranslationRule, parent: dict[str, Any]) -> tuple[Any, str]:
    """Return the map and the key that a rule takes its value from; the map is None if it is not there."""
    if rule.value_path:
        start, path = top, rule.value_path
    elif rule.custom_value_path:
        start, path = parent, rule.custom_value_path
    else:
        start, path = parent, [rule.value_name or ""]
    holders = list(_parents(start, path, create=False))
    return (holders[0] if holders else None), path[-1]


def _taken(top: dict[str, Any], rule: TranslationRule, parent: dict[str, Any]) -> Any:
    if rule.value is not None:
        return rule.value
    holder, key = _source(top, rule, parent)
    return None if holder is None else holder.get(key)


def _drop_source(top: dict[str, Any], rule: TranslationRule, parent: dict[str, Any]) -> None:
    holder, key = _source(top, rule, parent)
    if rule.value is None and holder is not None:
        holder.pop(key, None)


def _add(values: dict[str, Any], rule: TranslationRule) -> None:
    key = rule.translation_path[-1]
    for parent in list(_parents(values, rule.translation_path, create=True)):
        added = _taken(values, rule, parent)
        if added is None or isinstance(parent.get(key), Unknown):
            continue
        parent[key] = [*(parent.get(key) or []), *(added if isinstance(added, list) else [added])]
        _drop_source(values, rule, parent)


def _replace(values: dict[str, Any], rule: TranslationRule) -> None:
    key = rule.translation_path[-1]
    named = rule.value_name or rule.value_path or rule.custom_value_path
    create = _has_source(values, rule)
    for parent in list(_parents(values, rule.translation_path, create=create)):
        new = _taken(values, rule, parent)
        if new is None:
            continue
        holder, old_key = _source(values, rule, parent)
        if holder is parent and old_key == key:
            continue
        if named and parent.get(key) is not None:
            raise exception.ResourcePropertyConflict(key, old_key)
        parent[key] = new
        _drop_source(values, rule, parent)


def _has_source(values: dict[str, Any], rule: TranslationRule) -> bool:
    """Tell whether a value is there that needs a place to go to."""
    if rule.value_path is None:
        return False
    holders = _parents(values, rule.value_path, create=False)
    return any(holder.get(rule.value_path[-1]) is not None for holder in holders)


def _delete(values: dict[str, Any], rule: TranslationRule) -> None:
    for parent in _parents(values, rule.translation_path, create=False):
        parent.pop(rule.translation_path[-1], None)


_CHANGES = {
    TranslationRule.ADD: _add,
    TranslationRule.REPLACE: _replace,
    TranslationRule.DELETE: _delete,
}


def _resolve(values: dict[str, Any], rule: TranslationRule, lenient: bool) -> None:
    key = rule.translation_path[-1]
    for parent in _parents(values, rule.translation_path, create=False):
        value = parent.get(key)
        if isinstance(value, list):
            parent[key] = [_found(item, rule, lenient) for item in value]
        elif value is not None:
            parent[key] = _found(value, rule, lenient)


def _found(value: Any, rule: TranslationRule, lenient: bool) -> Any:
    if isinstance(value, Unknown | dict) or value in {None, ""}:
        return value
    finder = getattr(rule.client_plugin, rule.finder or "")
    try:
        return finder(rule.entity, value) if rule.entity else finder(value)
    except Exception as error:  # each client has exceptions of its own, and knows them
        if lenient and _says_nothing_is_there(rule.client_plugin, error):
            return value
        raise


def _says_nothing_is_there(plugin: Any, error: Exception) -> bool:
    return isinstance(error, exception.EntityNotFound) or bool(plugin and plugin.is_not_found(error))
