# SPDX-License-Identifier: Apache-2.0
"""The evaluation of template functions while freezing.

Arguments are evaluated first, then the function.  A function whose arguments
depend on what only run time can know becomes a ``Deferred`` call.  Results are
never evaluated again, so that values of parameters and files are mere data.
Functions that are more than their arguments are *forms*: see ``forms``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from heatconv.model.deferred import CALL, UNKNOWN, call
from heatconv.model.secrets import WORD, has_whole, texts_in
from heatconv.model.work import MAX_WORK, may_work, work_done
from heatconv.template.functions.arguments import Function, FunctionError
from heatconv.template.limits import MAX_TOTAL_WEIGHT, TOO_MUCH_PRODUCED, weight_of
from heatconv.template.problems import Problems, excerpt, kind_of

# What is known of an evaluated value; the worst part decides for the whole.
STATIC, DEFERRED, BROKEN = range(3)

#: What an ``if`` without an alternative leaves behind; containers drop it.
DROPPED = object()


@dataclass(frozen=True, slots=True)
class Deferred:
    """A call that run time has to make."""

    function: str
    args: Any


@dataclass(frozen=True, slots=True)
class Form:
    """A function that decides itself what of its arguments is evaluated, and how."""

    name: str
    summary: str
    expand: Callable[[Evaluator, Any], Any]
    listed: bool = True  #: whether it is one of the functions shown to users


Functions = Mapping[str, Function | Form]


class Cost(NamedTuple):
    """How much of the bounds for one template an evaluation took."""

    weight: int
    work: int

    def __sub__(self, other: Cost) -> Cost:
        """Return what came on top of another."""
        return Cost(self.weight - other.weight, self.work - other.work)


@dataclass(kw_only=True)
class Scope:
    """What the functions of a template can look up."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    broken_parameters: frozenset[str] = frozenset()  #: declared, but without a usable value
    hidden_parameters: frozenset[str] = frozenset()
    files: Mapping[str, str] = field(default_factory=dict)
    mappings: Mapping[str, Any] = field(default_factory=dict)  #: of a CloudFormation template
    facade: Mapping[str, Any] | None = None
    #: by name, whether it holds; None: a mistake was reported; a call: nobody knows yet
    conditions: dict[str, bool | Deferred | None] = field(default_factory=dict)
    #: by name, whether it is wanted, likewise
    resources: Mapping[str, bool | Deferred | None] = field(default_factory=dict)
    is_unsure: bool = False  #: there may be something in it that nobody knows yet


class Evaluator:
    """Evaluates values of one template; mistakes go to ``problems``."""

    def __init__(
        self, scope: Scope, problems: Problems, functions: Functions, condition_functions: Functions
    ) -> None:
        self.scope = scope
        self.problems = problems
        self.state = STATIC
        self.defers_mistakes = False  #: a parameter that is not there is told when the value is asked for
        self.secrets: set[str] = set()  #: what came of hidden parameters since whoever freezes looked last
        self._is_tainted = False  # what is being evaluated depends on a hidden parameter
        self._functions = functions
        self._condition_functions = condition_functions
        self._met: list[Any] = []  # what nobody knows yet, of all that was evaluated so far
        self._weights: dict[str, int] = {}
        self._spent = 0

    # -- for the one who freezes ---------------------------------------------------------

    def frozen(self, value: Any) -> tuple[Any, int]:
        """Return a value as a frozen definition holds it, and its state."""
        self.state = STATIC
        result = self.evaluate(value)
        return (None if result is DROPPED else encode(result)), self.state

    def condition(self, value: Any) -> bool | Deferred | None:
        """Return what a condition comes to; None if a mistake was reported, a call if nobody knows yet."""
        self.state = STATIC
        result = self.truth(value)
        return None if self.state == BROKEN else result

    # -- for forms -------------------------------------------------------------------------

    def evaluate(self, value: Any) -> Any:
        """Return a value with its functions evaluated; ``state`` is raised to its state."""
        if isinstance(value, dict):
            if len(value) == 1:
                ((name, raw),) = value.items()
                entry = self._functions.get(name)
                if entry is not None:
                    return self._call(entry, raw)
            return self._evaluate_map(value)
        if isinstance(value, list):
            return self._evaluate_list(value)
        return value

    def truth(self, value: Any) -> bool | Deferred:
        """Return what a condition comes to: a name of one, true, false or a function."""
        met = len(self._met)
        holds = self._truth(value)
        if self.state == DEFERRED and len(self._met) > met:  # of another resource no condition can be made
            hangs = [hang for unknown in self._met[met:] for hang in unknown["on"]]
            return Deferred(UNKNOWN, {"on": hangs, "never": []})
        return holds

    def _truth(self, value: Any) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._named_condition(value)
        outer, self._functions = self._functions, self._condition_functions
        before, self.state = self.state, STATIC
        tainted = self._is_tainted
        result = self.evaluate(value)
        self._is_tainted = tainted  # which of two values it was is no secret, nor are the values
        self._functions = outer
        if self.state == STATIC and not isinstance(result, bool):
            self.fail(f"A condition has to be true or false, not {kind_of(result)} ({excerpt(result)}).")
        self.state = max(before, self.state)
        return result is True

    def meet(self, unknown: Any) -> Deferred:
        """Return the call that stands for what nobody knows yet, in the form of ``model.unknown``."""
        self._met.append(unknown)
        self.state = max(self.state, DEFERRED)
        return Deferred(UNKNOWN, unknown)

    def fail(self, sentence: str, *steps: str | int) -> None:
        """Report a mistake; whatever contains it has no value."""
        self.problems.report(sentence, *steps)
        self.state = BROKEN

    def child(self, step: str | int, value: Any) -> Any:
        """Evaluate what is one step below."""
        trail = self.problems.trail
        trail.append(step)
        result = self.evaluate(value)
        trail.pop()
        return result

    def keep_secret(self, value: Any) -> None:
        """Note that a value must not be shown, nor what functions make of it."""
        self._is_tainted = True
        self._add_secrets(texts_in(value))

    def spend(self, value: Any, known_as: str = "") -> None:
        """Weigh a value against what one template may produce in all.

        ``known_as`` is a name under which the same value may come again.
        """
        weight = self._weights.get(known_as) if known_as else None
        if weight is None:
            weight = weight_of(value)
            if known_as:
                self._weights[known_as] = weight
        if self._spent <= MAX_TOTAL_WEIGHT < self._spent + weight:
            self.fail(TOO_MUCH_PRODUCED)
        elif self._spent > MAX_TOTAL_WEIGHT:
            self.state = BROKEN  # and was reported where it passed the limit
        self._spent += weight

    @property
    def cost(self) -> Cost:
        """What was spent so far, of all that is bounded."""
        return Cost(self._spent, work_done())

    def afford(self, cost: Cost) -> bool:
        """Spend what an earlier evaluation of the same cost; False: there is not as much left."""
        if self._spent + cost.weight > MAX_TOTAL_WEIGHT or work_done() + cost.work > MAX_WORK:
            return False
        self._spent += cost.weight
        return may_work(cost.work)

    # -- inside ------------------------------------------------------------------------------

    def _evaluate_map(self, value: dict[str, Any]) -> dict[str, Any]:
        trail = self.problems.trail
        result = {}
        for key, item in value.items():
            if isinstance(item, dict | list):
                trail.append(key)
                item = self.evaluate(item)  # noqa: PLW2901  # plain values are taken as they are
                trail.pop()
                if item is DROPPED:
                    continue
            result[key] = item
        return result

    def _evaluate_list(self, value: list[Any]) -> list[Any]:
        trail = self.problems.trail
        result = []
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                trail.append(index)
                item = self.evaluate(item)  # noqa: PLW2901  # plain values are taken as they are
                trail.pop()
                if item is DROPPED:
                    continue
            result.append(item)
        return result

    def _call(self, entry: Function | Form, raw: Any) -> Any:
        trail = self.problems.trail
        trail.append(entry.name)
        # The function sees the state of its own arguments only, not that of what was before it.
        outer, self.state = self.state, STATIC
        tainted, self._is_tainted = self._is_tainted, False
        if self._spent > MAX_TOTAL_WEIGHT:
            self.state, result = BROKEN, None
        elif isinstance(entry, Form):
            result = entry.expand(self, raw)
        else:
            result = self._apply(entry, raw)
        self.state = max(outer, self.state)
        self._is_tainted = self._is_tainted or tainted
        trail.pop()
        return result

    def _apply(self, function: Function, raw: Any) -> Any:
        args = self.evaluate(raw)
        result: Any = None
        try:
            if self.state == STATIC:
                result = function(None if args is DROPPED else args)
                self.spend(result)
                if self._is_tainted:
                    self._keep_unlike(result)
            elif self.state == DEFERRED:
                if not isinstance(args, Deferred):
                    function.check(args)
                result = Deferred(function.key, args)
        except FunctionError as error:
            self.fail(error.sentence, *error.path)
        return result

    def _keep_unlike(self, result: Any) -> None:
        """Note those texts that a function made of a secret and that do not have it in them any more."""
        texts = (text for text in texts_in(result) if len(text) >= WORD)
        self._add_secrets(text for text in texts if not has_whole(text, self.secrets))

    def _add_secrets(self, texts: Iterable[str]) -> None:
        found = set(texts)
        self.secrets |= found
        self.problems.secrets |= found

    def _named_condition(self, name: str) -> bool:
        if name not in self.scope.conditions:
            self.fail(f"There is no condition '{name}'.")
            return False
        holds = self.scope.conditions[name]
        if holds is None:
            self.state = BROKEN
        elif isinstance(holds, Deferred):
            self.meet(holds.args)
        return holds is True


def encode(value: Any) -> Any:
    """Return an evaluated value in the form frozen definitions have, see ``heatconv.model.deferred``."""
    if isinstance(value, dict):
        if CALL in value:
            return call("literal", [[key, encode(item)] for key, item in value.items()])
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, Deferred):
        return call(value.function, encode(value.args))
    return value
