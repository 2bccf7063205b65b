# SPDX-License-Identifier: Apache-2.0
"""The schema of one property: its type, its bounds, and what may become of it.

A schema converts and judges a value; which values there are, and the defaults
of those that are not, is the business of ``properties``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from heatconv.model.unknown import Unknown, contains_unknown
from heatconv.resources import exception, support
from heatconv.resources.constraints import Constraint, CustomConstraint
from heatconv.resources.conversion import CONVERTERS, EMPTY
from heatconv.resources.unknown import StandIn

Problem = tuple[str, str]  #: a path and a sentence


class Schema:
    """What a plugin declares of one property."""

    STRING, INTEGER, NUMBER, BOOLEAN, MAP, LIST, ANY = TYPES = (
        "String",
        "Integer",
        "Number",
        "Boolean",
        "Map",
        "List",
        "Any",
    )

    def __init__(  # noqa: PLR0917  # the signature plugins know
        self,
        data_type: str,
        description: str | None = None,
        default: Any = None,
        schema: Mapping[str, Schema] | Schema | None = None,
        required: bool = False,
        constraints: Sequence[Constraint] | None = None,
        implemented: bool = True,
        update_allowed: bool = False,
        immutable: bool = False,
        support_status: support.SupportStatus | None = None,
        allow_conversion: bool = False,
    ) -> None:
        self.type = data_type
        self.description = description
        self.default = default
        self.schema = schema
        self.required = required
        self.constraints = list(constraints or ())
        self.implemented = implemented
        self.update_allowed = update_allowed
        self.immutable = immutable
        self.support_status = support_status or support.SupportStatus()
        self.allow_conversion = allow_conversion
        contradiction = self._contradiction()
        if contradiction:
            raise exception.InvalidSchemaError(message=contradiction)

    @property
    def asks_others(self) -> bool:
        """Whether a value of it is valid or not, somewhere inside, may be for others to say."""
        nested = self.schema
        inside = [nested] if isinstance(nested, Schema) else (nested or {}).values()
        custom = any(isinstance(constraint, CustomConstraint) for constraint in self.constraints)
        return custom or any(schema.asks_others for schema in inside)

    def _contradiction(self) -> str | None:
        nested_allowed = {self.LIST: Schema, self.MAP: Mapping}.get(self.type)
        if self.type not in self.TYPES:
            return f"{self.type!r} is not a property type; use one of {', '.join(self.TYPES)}."
        if self.schema is not None and not (nested_allowed and isinstance(self.schema, nested_allowed)):
            return "A nested schema is one Schema for a List and a map of Schemas for a Map, nothing else."
        if self.update_allowed and self.immutable:
            return "A property cannot be both update_allowed and immutable."
        if self.required and self.default is not None:
            return "A required property cannot have a default."
        return None

    @cached_property
    def nested(self) -> Mapping[str, Schema] | None:
        """The schemas of a map's keys, or None if any key goes."""
        return self.schema if isinstance(self.schema, Mapping) else None

    @cached_property
    def item(self) -> Schema | None:
        """The schema of a list's items, or None if any item goes."""
        return self.schema if isinstance(self.schema, Schema) else None

    def value(self, given: Any) -> Any:
        """Return a value as the plugin sees it: converted, and with nested defaults.

        Raises:
            ValueError, TypeError: the value is not of the type.
        """
        if isinstance(given, Unknown):
            return self._stand_in(given) if isinstance(given, StandIn) else given
        if given is None:
            given = self.default
            if given is None:
                return None
        converted = CONVERTERS[self.type](given, self.allow_conversion)
        if self.nested is not None:
            return {key: schema.value(converted.get(key)) for key, schema in self.nested.items()}
        if self.item is not None:
            return [self.item.value(item) for item in converted]
        return converted

    def agrees(self, wanted: Any, found: Any) -> bool:
        """Tell whether a value that a service tells is the one wanted of it.

        What nobody chose (None) is the service's to choose; so are the keys that
        a map of known keys was not given.
        """
        if wanted is None or (found is None and wanted in ("", [], {})):
            return True
        try:
            found = self.value(found)
        except (TypeError, ValueError):
            return False
        if self.nested is not None and isinstance(found, Mapping):
            return all(
                key in self.nested and self.nested[key].agrees(value, found.get(key))
                for key, value in wanted.items()
            )
        if self.item is not None and isinstance(found, list):
            return len(wanted) == len(found) and all(map(self.item.agrees, wanted, found))
        return bool(wanted == found)

    def _stand_in(self, unknown: StandIn) -> Any:
        if self.type == self.STRING and unknown.text is not None:
            return unknown.text
        if self.default is not None:
            return self.value(None)
        return EMPTY[self.type]() if self.required else None

    def problems(self, given: Any, path: str, context: Any = None) -> Iterator[Problem]:
        """Yield the mistakes of a given value; what is not known yet is not judged."""
        if given is None or isinstance(given, Unknown):
            return
        try:
            value = CONVERTERS[self.type](given, self.allow_conversion)
        except (ValueError, TypeError) as error:
            yield path, str(error)
            return
        if self.nested is not None:
            yield from map_problems(self.nested, value, path, context)
        elif self.item is not None:
            for index, item in enumerate(value):
                yield from self.item.problems(item, f"{path}[{index}]", context)
        if self.constraints and not contains_unknown(value):
            yield from self._constraint_problems(value, path, context)

    def _constraint_problems(self, value: Any, path: str, context: Any) -> Iterator[Problem]:
        for constraint in self.constraints:
            try:
                constraint.validate(value, self, context)
            except (ValueError, TypeError) as error:
                yield path, str(error)

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as ``/resource_types`` shows it."""
        shown: dict[str, Any] = {
            "type": self.type.lower(),
            "required": self.required,
            "update_allowed": self.update_allowed,
            "immutable": self.immutable,
        }
        if self.description is not None:
            shown["description"] = str(self.description)
        if self.default is not None:
            shown["default"] = self.default
        if self.nested is not None:
            shown["schema"] = {key: schema.to_dict() for key, schema in self.nested.items()}
        elif self.item is not None:
            shown["schema"] = {"*": self.item.to_dict()}
        if self.constraints:
            shown["constraints"] = [constraint.to_dict() for constraint in self.constraints]
        return shown


def map_problems(
    schemata: Mapping[str, Schema], given: Mapping[str, Any], path: str, context: Any = None
) -> Iterator[Problem]:
    """Yield the mistakes of a map whose keys have schemas."""
    for key in given:
        if key not in schemata:
            yield f"{path}.{key}", f"Unknown Property {key}"
    for key, schema in schemata.items():
        value = given.get(key)
        where = f"{path}.{key}"
        if value is None:
            if schema.required:
                yield where, f"Property {key} not assigned"
        elif not schema.implemented:
            yield where, f"Property {key} not implemented yet"
        else:
            yield from schema.problems(value, where, context)
