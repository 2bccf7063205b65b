# SPDX-License-Identifier: Apache-2.0
"""The constraints that a template puts on the values of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from heatconv.model.patterns import Pattern, PatternError, PatternTooHard
from heatconv.template.problems import Problems, excerpt, kind_of, shortened

#: Custom constraints by name: why a value does not satisfy it, or None.
CustomConstraints = Mapping[str, Callable[[Any], str | None]]


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint: its kind, what the template says about it, and the error text it gives."""

    kind: str
    setting: Any
    description: str = ""

    def objection(self, value: Any, custom: CustomConstraints) -> str | None:
        """Return why a value does not satisfy the constraint; None if it does."""
        reason = _KINDS[self.kind].check(self.setting, value, custom)
        return self.description or reason if reason else None

    def describe(self) -> dict[str, Any]:
        """Return the constraint as Heat's answer to /validate has it."""
        return _KINDS[self.kind].describe(self.setting)


def parse_constraints(
    snippets: Any, type_: str, problems: Problems, *, modulo: bool
) -> tuple[Constraint, ...]:
    """Return the constraints of a parameter; mistakes are reported."""
    if snippets is None:
        return ()
    if not isinstance(snippets, list):
        problems.report(f"It has to be a list, not {kind_of(snippets)}.")
        return ()
    result = []
    for index, snippet in enumerate(snippets):
        with problems.at(index):
            constraint = _parse(snippet, type_, problems, modulo=modulo)
        if constraint is not None:
            result.append(constraint)
    return tuple(result)


def _parse(snippet: Any, type_: str, problems: Problems, *, modulo: bool) -> Constraint | None:
    known = [kind for kind in _KINDS if kind != "modulo" or modulo]
    kinds = [key for key in snippet if key != "description"] if isinstance(snippet, dict) else []
    if len(kinds) != 1 or kinds[0] not in known:
        problems.report(f"It has to be a map with one of {', '.join(known)}, and perhaps a description.")
        return None
    kind, description = kinds[0], snippet.get("description")
    if not isinstance(description, str | None):
        problems.report(f"It has to be a text, not {kind_of(description)}.", "description")
        return None
    if type_ not in _KINDS[kind].types:
        problems.report(f"A {type_} parameter cannot have a {kind} constraint.", kind)
        return None
    try:
        return Constraint(kind, _KINDS[kind].parse(snippet[kind]), description or "")
    except ValueError as error:
        problems.report(str(error), kind)
        return None


# -- the kinds ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one kind of constraint is read, checked and described."""

    types: tuple[str, ...]  #: of parameters that can have it
    parse: Callable[[Any], Any]  #: raises ValueError with a sentence
    check: Callable[[Any, Any, CustomConstraints], str | None]  #: a sentence, if not satisfied
    describe: Callable[[Any], dict[str, Any]]


def _numbers(keys: tuple[str, ...], *, all_needed: bool) -> Callable[[Any], dict[str, Any]]:
    """Return a parser of a map of numbers."""
    needed = "both" if all_needed else "at least one"

    def parse(setting: Any) -> dict[str, Any]:
        if not isinstance(setting, dict) or not setting or not set(setting) <= set(keys):
            raise ValueError(f"It has to be a map of {' and '.join(keys)}, {needed} of them.")
        if all_needed and len(setting) < len(keys):
            raise ValueError(f"It has to be a map of {' and '.join(keys)}, {needed} of them.")
        return {key: as_number(value) for key, value in setting.items()}

    return parse


def as_number(value: Any) -> int | float:
    """Return a number, or what a text spells as one.

    Raises:
        ValueError: it is none, with a sentence that says so.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) < 300:
        for type_ in (int, float):
            try:
                number = type_(value)
            except ValueError:
                continue
            if number - number == 0:  # neither infinite nor not-a-number
                return number
    raise ValueError(f"It has to be a number, not {excerpt(value)}.")


def _check_length(bounds: dict[str, Any], value: Any, _custom: CustomConstraints) -> str | None:
    return _check_bounds(bounds, len(value), "Its length")


def _check_range(bounds: dict[str, Any], value: Any, _custom: CustomConstraints) -> str | None:
    return _check_bounds(bounds, value, "It")


def _check_bounds(bounds: dict[str, Any], number: float, subject: str) -> str | None:
    low, high = bounds.get("min"), bounds.get("max")
    if low is not None and number < low:
        return f"{subject} is {number}, which is less than {low}."
    if high is not None and number > high:
        return f"{subject} is {number}, which is more than {high}."
    return None


def _parse_modulo(setting: Any) -> dict[str, Any]:
    numbers = _numbers(("step", "offset"), all_needed=True)(setting)
    step, offset = numbers["step"], numbers["offset"]
    if not isinstance(step, int) or not isinstance(offset, int) or step == 0:
        raise ValueError("Step and offset have to be whole numbers, and step not 0.")
    if abs(offset) >= abs(step) or (offset and (offset < 0) != (step < 0)):
        raise ValueError("The offset has to be smaller than the step, and of the same sign.")
    return numbers


def _check_modulo(setting: dict[str, Any], value: Any, _custom: CustomConstraints) -> str | None:
    if value % setting["step"] == setting["offset"]:
        return None
    return f"It is not a multiple of {setting['step']} with an offset of {setting['offset']}."


def _parse_values(setting: Any) -> list[Any]:
    if not isinstance(setting, list):
        raise ValueError(f"It has to be a list, not {kind_of(setting)}.")  # noqa: TRY004  # see _Kind
    return setting


def _check_values(setting: list[Any], value: Any, _custom: CustomConstraints) -> str | None:
    allowed = {_comparable(item) for item in setting}
    for item in value if isinstance(value, list | dict) else [value]:
        if _comparable(item) not in allowed:
            shown = ", ".join(str(item) for item in setting)
            return f"It has to be one of {shortened(shown, 300)}."
    return None


def _comparable(value: Any) -> str:
    """Return a text that is equal for values a template's author takes for equal: 1, 1.0 and '1'."""
    try:
        return str(as_number(value) + 0.0)
    except (ValueError, OverflowError):
        return str(value)


def _parse_pattern(setting: Any) -> Pattern:
    if not isinstance(setting, str):
        raise ValueError(f"It has to be a text, not {kind_of(setting)}.")  # noqa: TRY004  # see _Kind
    try:
        return Pattern(setting)
    except PatternError as error:
        raise ValueError(str(error)) from error


def _check_pattern(setting: Pattern, value: Any, _custom: CustomConstraints) -> str | None:
    try:
        if setting.matches(value):
            return None
    except PatternTooHard as error:
        return str(error)
    return f"It does not match the pattern {setting.text}."


def _parse_name(setting: Any) -> str:
    if not isinstance(setting, str):
        raise ValueError(f"It has to be a name, not {kind_of(setting)}.")  # noqa: TRY004  # see _Kind
    return setting


def _check_custom(setting: str, value: Any, custom: CustomConstraints) -> str | None:
    check = custom.get(setting)
    return None if check is None else check(value)


_ANY = ("string", "number", "comma_delimited_list", "json", "boolean")

_KINDS: dict[str, _Kind] = {
    "length": _Kind(
        ("string", "comma_delimited_list", "json"),
        _numbers(("min", "max"), all_needed=False),
        _check_length,
        lambda setting: {f"{key.title()}Length": value for key, value in setting.items()},
    ),
    "range": _Kind(
        ("number",),
        _numbers(("min", "max"), all_needed=False),
        _check_range,
        lambda setting: {f"{key.title()}Value": value for key, value in setting.items()},
    ),
    "modulo": _Kind(
        ("number",),
        _parse_modulo,
        _check_modulo,
        lambda setting: {"Step": setting["step"], "Offset": setting["offset"]},
    ),
    "allowed_values": _Kind(_ANY, _parse_values, _check_values, lambda setting: {"AllowedValues": setting}),
    "allowed_pattern": _Kind(
        ("string",), _parse_pattern, _check_pattern, lambda setting: {"AllowedPattern": setting.text}
    ),
    "custom_constraint": _Kind(
        _ANY, _parse_name, _check_custom, lambda setting: {"CustomConstraint": setting}
    ),
}
