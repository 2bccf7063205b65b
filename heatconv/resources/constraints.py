# SPDX-License-Identifier: Apache-2.0
"""What values a property accepts, beyond its type.

A constraint tells its mistake by raising ``ValueError`` with one sentence, and
describes itself by ``to_dict`` for ``/resource_types``.  Custom constraints
come by name from the entry points ``heatconv.constraints``.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Sequence
from typing import Any

from stevedore import extension

from heatconv import errors
from heatconv.model.patterns import Pattern, PatternError, PatternTooHard
from heatconv.model.secrets import account, masked_text, texts_in
from heatconv.resources import exception
from heatconv.resources.clients.status import is_away
from heatconv.resources.memory import Memory
from heatconv.resources.promises import Promises

LOG = logging.getLogger(__name__)


class Constraint:
    """One condition on a value; ``description`` replaces the default sentence."""

    def __init__(self, description: str | None = None) -> None:
        self.description = description

    def validate(self, value: Any, schema: Any = None, context: Any = None, template: Any = None) -> None:
        """Accept a value.

        Raises:
            ValueError: it is not acceptable, and why.
            NotJudged: a service that knows does not answer.
        """
        problem = self.problem(value, context)
        if problem:
            raise ValueError(self.description or problem)

    def problem(self, value: Any, context: Any = None) -> str | None:
        """Return what is wrong with a value, or None."""
        raise NotImplementedError

    def rule(self) -> dict[str, Any]:
        """Return the constraint without its description."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the constraint as ``/resource_types`` shows it."""
        return self.rule() | ({"description": self.description} if self.description else {})


class Range(Constraint):
    """A number between two bounds, both included."""

    def __init__(
        self, min: float | None = None, max: float | None = None, description: str | None = None
    ) -> None:
        super().__init__(description)
        _need_some("Range", min, max)
        self.min = min
        self.max = max

    def problem(self, value: Any, context: Any = None) -> str | None:
        if (self.min is not None and value < self.min) or (self.max is not None and value > self.max):
            return f"{value} is out of range ({_bounds(self.min, self.max)})"
        return None

    def rule(self) -> dict[str, Any]:
        return {"range": _given(min=self.min, max=self.max)}


class Length(Constraint):
    """A text, list or map of a size between two bounds, both included."""

    def __init__(
        self, min: int | None = None, max: int | None = None, description: str | None = None
    ) -> None:
        super().__init__(description)
        _need_some("Length", min, max)
        self.min = min
        self.max = max

    def problem(self, value: Any, context: Any = None) -> str | None:
        size = len(value)
        if (self.min is not None and size < self.min) or (self.max is not None and size > self.max):
            return f"length ({size}) is out of range ({_bounds(self.min, self.max)})"
        return None

    def rule(self) -> dict[str, Any]:
        return {"length": _given(min=self.min, max=self.max)}


class Modulo(Constraint):
    """A number that is ``offset`` above a multiple of ``step``."""

    def __init__(
        self, step: int | None = None, offset: int | None = None, description: str | None = None
    ) -> None:
        super().__init__(description)
        if step is None or offset is None or step == 0 or abs(offset) >= abs(step) or step * offset < 0:
            raise exception.InvalidSchemaError(
                message="A modulo constraint needs a step and an offset, "
                "of the same sign and the offset smaller than the step."
            )
        self.step = step
        self.offset = offset

    def problem(self, value: Any, context: Any = None) -> str | None:
        if value % self.step != self.offset % self.step:
            return f"{value} is not a multiple of {self.step} with an offset of {self.offset}"
        return None

    def rule(self) -> dict[str, Any]:
        return {"modulo": {"step": self.step, "offset": self.offset}}


class AllowedValues(Constraint):
    """One of the listed values; of a list, every item has to be."""

    def __init__(self, allowed: Sequence[Any], description: str | None = None) -> None:
        super().__init__(description)
        if isinstance(allowed, str) or not isinstance(allowed, Sequence):
            raise exception.InvalidSchemaError(message="The allowed values have to be a list.")
        self.allowed = tuple(allowed)

    def problem(self, value: Any, context: Any = None) -> str | None:
        items = value if isinstance(value, list) else [value]
        bad = next((item for item in items if item not in self.allowed), None)
        if bad is None and all(item in self.allowed for item in items):
            return None
        return f"{_quoted(bad)} is not an allowed value [{', '.join(map(_quoted, self.allowed))}]"

    def rule(self) -> dict[str, Any]:
        return {"allowed_values": list(self.allowed)}


class AllowedPattern(Constraint):
    """A text that a regular expression matches as a whole."""

    def __init__(self, pattern: str, description: str | None = None) -> None:
        super().__init__(description)
        self.pattern = pattern
        try:
            self.match = Pattern(pattern).matches
        except PatternError:  # what only ``re`` can match; whoever wrote the plugin answers for it
            self.match = lambda value: re.compile(pattern).fullmatch(value) is not None

    def problem(self, value: Any, context: Any = None) -> str | None:
        try:
            if self.match(str(value)):
                return None
        except PatternTooHard as error:
            return f'"{value}" cannot be checked: {error}'
        return f'"{value}" does not match pattern "{self.pattern}"'

    def rule(self) -> dict[str, Any]:
        return {"allowed_pattern": self.pattern}


class CustomConstraint(Constraint):
    """A check by name, such as one that asks a service."""

    def __init__(self, name: str, description: str | None = None, environment: Any = None) -> None:
        super().__init__(description)
        self.name = name
        self._environment = environment

    @property
    def custom_constraint(self) -> Any:
        """The class registered by that name, or None."""
        if self._environment is not None:
            return self._environment.get_constraint(self.name)
        return installed().get(self.name)

    def problem(self, value: Any, context: Any = None) -> str | None:
        found = self.custom_constraint
        if found is None:
            return (
                f'"{value}" cannot be checked: there is no constraint {self.name} here; '
                "those that ask a service come with the plugin of its client"
            )
        try:
            return self._refusal(found() if isinstance(found, type) else found, value, context)
        except Exception as error:  # a plugin may raise anything
            # The value may be somebody's secret, and the error repeat it.
            secrets = [*texts_in(value)]
            LOG.warning("Constraint %s could not judge a value: %s", self.name, account(error, secrets))
            if is_away(error):
                reason = masked_text(str(error), secrets)
                raise errors.NotJudged(what=f"the value of a {self.name}", reason=reason) from error
            return f'"{value}" cannot be checked: {self.name} says {str(error) or type(error).__name__}'

    def _refusal(self, check: Any, value: Any, context: Any) -> str | None:
        if check.validate(value, context):
            return None
        error = getattr(check, "error", None)
        return str(error(value)) if error else f'"{value}" does not validate {self.name}'

    def rule(self) -> dict[str, Any]:
        return {"custom_constraint": self.name}


class ServiceConstraint(CustomConstraint):
    """A check that asks a service, for types that there are without that service, too: then it says yes."""

    def problem(self, value: Any, context: Any = None) -> str | None:
        return None if self.custom_constraint is None else super().problem(value, context)


class BaseCustomConstraint:
    """The usual custom constraint: a client finds the value, or it is not valid.

    A subclass names ``resource_client_name`` and ``resource_getter_name``, or
    overrides ``validate_with_client(client, value)``; what it raises of
    ``expected_exceptions`` means no.  What was found is not looked for again
    for a minute, in the same project.
    """

    expected_exceptions: tuple[type[Exception], ...] = (exception.EntityNotFound,)
    resource_client_name: str | None = None
    resource_getter_name: str | None = None

    _error_message: object = None  #: what ``error`` says, besides the value

    def validate(self, value: Any, context: Any) -> bool:
        """Tell whether the value is valid; without a context there is nobody to ask, hence accepted."""
        if context is None:
            return True
        what = (type(self), getattr(context, "project_id", None), repr(value))
        if _FOUND.knows(what):
            return True
        refusals: tuple[type[Exception], ...] = (
            *self.expected_exceptions,
            exception.ClientNotAvailable,
        )
        try:
            self.validate_with_client(context.clients, value)
        except refusals as error:
            self._error_message = error
            return False
        _FOUND.add(what)
        return True

    def validate_with_client(self, client: Any, value: Any) -> None:
        """Ask a client for the value."""
        plugin = client.client_plugin(self.resource_client_name)
        getattr(plugin, self.resource_getter_name or "")(value)

    def error(self, value: Any) -> str:
        """Return the sentence for a value that did not validate."""
        if isinstance(self._error_message, exception.ClientNotAvailable):
            return f'"{value}" cannot be checked: {self._error_message}'
        return str(self._error_message) if self._error_message else f'"{value}" is not valid'


_FOUND = Memory(seconds=60)


@functools.cache
def installed() -> Promises:
    """Return the custom constraints of this process by name; plugin modules, and a cloud, add theirs."""
    found = extension.ExtensionManager("heatconv.constraints", on_load_failure_callback=_warn)
    return Promises({item.name: item.plugin for item in found})


def _warn(_manager: Any, entry_point: Any, error: BaseException) -> None:
    LOG.warning("Custom constraint %s does not load: %s", entry_point.name, error)


def _need_some(kind: str, low: float | None, high: float | None) -> None:
    if low is None and high is None:
        raise exception.InvalidSchemaError(message=f"A {kind.lower()} constraint needs a min or a max.")


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _bounds(low: float | None, high: float | None) -> str:
    return ", ".join(f"{name}: {value}" for name, value in _given(min=low, max=high).items())


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
