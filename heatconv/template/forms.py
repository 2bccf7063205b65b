# SPDX-License-Identifier: Apache-2.0
"""The functions that are more than their arguments.

They look something up in the template's surroundings, refer to a resource, or
evaluate only a part of what they are given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from heatconv.model.deferred import FAILED
from heatconv.template import unknown
from heatconv.template.evaluator import BROKEN, DEFERRED, DROPPED, STATIC, Deferred, Evaluator, Form
from heatconv.template.functions import lookups
from heatconv.template.functions.arguments import select
from heatconv.template.problems import excerpt, kind_of


def form(name: str) -> Callable[[Callable[[Evaluator, Any], Any]], Form]:
    """Return a decorator that makes a Python function a form; users are told its docstring."""
    return lambda expand: Form(name, inspect.getdoc(expand) or "", expand)


# -- what is known while freezing ----------------------------------------------------------


@form("get_param")
def get_param(evaluator: Evaluator, raw: Any) -> Any:
    """Return the value of a parameter, or what a path leads to inside it."""
    args = evaluator.evaluate(raw)
    name, path = (args[0], args[1:]) if isinstance(args, list) and args else (args, [])
    return None if evaluator.state == BROKEN else _parameter(evaluator, name, path)


def _parameter(evaluator: Evaluator, name: Any, path: list[Any]) -> Any:
    scope = evaluator.scope
    if not isinstance(name, str):
        evaluator.fail(f"It takes the name of a parameter and perhaps a path, not {_shown(name)}.")
    elif name in scope.broken_parameters:
        evaluator.state = BROKEN
    elif name not in scope.parameters:
        sentence = f"The Parameter ({name}) was not provided."
        if evaluator.defers_mistakes:
            evaluator.state = max(evaluator.state, DEFERRED)
            return Deferred(FAILED, sentence)
        evaluator.problems.report_call(sentence)
        evaluator.state = BROKEN
    else:
        value = scope.parameters[name]
        evaluator.spend(value, f"parameter {name}")
        if scope.is_unsure and unknown.is_written_in(value):
            return unknown.select(evaluator, value, path, select)
        if evaluator.state == DEFERRED:
            result, shown = Deferred(lookups.get_param.key, [value, *path]), value
        else:
            result = shown = select(value, path, "")
        if name in scope.hidden_parameters:
            evaluator.keep_secret(shown)
        return result
    return None


@form("get_file")
def get_file(evaluator: Evaluator, raw: Any) -> Any:
    """A function for including a file inline."""
    name = _static(evaluator, raw, "the name of a file")
    if name is None:
        return None
    if not isinstance(name, str):
        evaluator.fail(f"It takes the name of a file, not {_shown(name)}.")
    elif name not in evaluator.scope.files:
        evaluator.fail(f"There is no file '{name}' among the files that came with the template.")
    else:
        content = evaluator.scope.files[name]
        evaluator.spend(content, f"file {name}")
        return content
    return None


@form("resource_facade")
def resource_facade(evaluator: Evaluator, raw: Any) -> Any:
    """Return metadata or a policy of the resource that this nested template makes up."""
    return _facade(evaluator, raw, {word: word for word in ("metadata", "deletion_policy", "update_policy")})


@form("Fn::ResourceFacade")
def fn_resource_facade(evaluator: Evaluator, raw: Any) -> Any:
    """Return Metadata or a policy of the resource that this nested template makes up."""
    words = {"Metadata": "metadata", "DeletionPolicy": "deletion_policy", "UpdatePolicy": "update_policy"}
    return _facade(evaluator, raw, words)


def _facade(evaluator: Evaluator, raw: Any, words: Mapping[str, str]) -> Any:
    if not isinstance(raw, str) or raw not in words:
        evaluator.fail(f"It takes one of {', '.join(words)}, not {excerpt(raw)}.")
    elif evaluator.scope.facade is None:
        evaluator.fail("It can be used only in a template that is nested in another one.")
    else:
        value = evaluator.scope.facade.get(words[raw])
        evaluator.spend(value, f"facade {raw}")
        return value
    return None


@form("Fn::FindInMap")
def fn_find_in_map(evaluator: Evaluator, raw: Any) -> Any:
    """Return what the Mappings section has under the name of a mapping and two keys."""
    path = evaluator.evaluate(raw)
    if evaluator.state == DEFERRED:
        evaluator.fail("It takes names, which must not depend on another resource.")
    elif evaluator.state == STATIC and (not isinstance(path, list) or len(path) != 3):
        evaluator.fail("It takes a list of the name of a mapping and two keys.")
    if evaluator.state == BROKEN:
        return None
    found: Any = evaluator.scope.mappings
    for index, step in enumerate(path):
        if isinstance(step, dict | list) or not isinstance(found, dict) or str(step) not in found:
            within = ".".join(str(each) for each in ("Mappings", *path[:index]))
            evaluator.fail(f"There is no {excerpt(step)} in {within}.", index)
            return None
        found = found[str(step)]
    evaluator.spend(found, f"mapping {path}")
    return found


# -- what refers to resources --------------------------------------------------------------


@form("get_resource")
def get_resource(evaluator: Evaluator, raw: Any) -> Any:
    """Return the reference id of a resource."""
    name = _static(evaluator, raw, "the name of a resource")
    if name is None or not _known_resource(evaluator, name):
        return None
    evaluator.state = max(evaluator.state, DEFERRED)
    return Deferred("get_resource", name)


@form("get_attr")
def get_attr_then_select(evaluator: Evaluator, raw: Any) -> Any:
    """Return an attribute of a resource, then select inside it what a path leads to."""
    parts = _attribute(evaluator, raw, least=2)
    if parts is None:
        return None
    name, attribute, *path = parts
    attribute_call = Deferred("get_attr", [name, attribute])
    return Deferred(lookups.get_attr_then_select.key, [attribute_call, *path]) if path else attribute_call


@form("get_attr")
def get_attr_path(evaluator: Evaluator, raw: Any) -> Any:
    """Return an attribute of a resource; a path goes to the resource."""
    parts = _attribute(evaluator, raw, least=2)
    return None if parts is None else Deferred("get_attr", parts)


@form("get_attr")
def get_attr(evaluator: Evaluator, raw: Any) -> Any:
    """Return an attribute of a resource (a path goes to the resource), or all of them."""
    parts = _attribute(evaluator, raw, least=1)
    return None if parts is None else Deferred("get_attr", parts)


def _attribute(evaluator: Evaluator, raw: Any, *, least: int, most: int | None = None) -> list[Any] | None:
    """Return the evaluated arguments of a ``get_attr``; None if a mistake was reported."""
    args = evaluator.evaluate(raw)
    good = evaluator.state != BROKEN and _check_attribute(evaluator, args, least, most)
    evaluator.state = max(evaluator.state, DEFERRED)
    return args if good else None


def _check_attribute(evaluator: Evaluator, args: Any, least: int, most: int | None) -> bool:
    if not isinstance(args, list) or len(args) < least or len(args) > (most or len(args)):
        names = "a resource, an attribute" if least > 1 else "a resource, perhaps an attribute"
        names = "a resource and an attribute" if most else f"{names} and perhaps a path"
        evaluator.fail(f"It takes a list of {names}, not {_shown(args)}.")
        return False
    name, *rest = args
    if not _known_resource(evaluator, name, 0):
        return False
    if rest and not isinstance(rest[0], str):
        evaluator.fail(f"The attribute has to be a name, not {_shown(rest[0])}.", 1)
        return False
    for index, step in enumerate(rest[1:], 2):
        if isinstance(step, bool) or not isinstance(step, str | int | Deferred):
            evaluator.fail(f"A path has texts and numbers only, not {_shown(step)}.", index)
            return False
    return True


def _known_resource(evaluator: Evaluator, name: Any, *steps: int) -> bool:
    resources = evaluator.scope.resources
    if not isinstance(name, str):
        evaluator.fail(f"It takes the name of a resource, not {_shown(name)}.", *steps)
    elif name not in resources:
        evaluator.fail(f"There is no resource '{name}'.", *steps)
    elif resources[name] is None:
        evaluator.state = BROKEN
    elif not resources[name]:
        evaluator.fail(f"The resource '{name}' is switched off by its condition.", *steps)
    else:
        return True
    return False


@form("Fn::GetAtt")
def fn_get_att(evaluator: Evaluator, raw: Any) -> Any:
    """Return an attribute of a resource."""
    parts = _attribute(evaluator, raw, least=2, most=2)
    return None if parts is None else Deferred("get_attr", parts)


@form("Ref")
def ref(evaluator: Evaluator, raw: Any) -> Any:
    """Return the value of a parameter or the reference id of a resource."""
    if isinstance(raw, str) and raw in evaluator.scope.resources:
        return get_resource.expand(evaluator, raw)
    return _ref(evaluator, raw, "parameter or resource")


@form("Ref")
def parameter_ref(evaluator: Evaluator, raw: Any) -> Any:
    """Return the value of a parameter."""
    return _ref(evaluator, raw, "parameter")


def _ref(evaluator: Evaluator, raw: Any, what: str) -> Any:
    if not isinstance(raw, str):
        evaluator.fail(f"It takes the name of a {what}, not {_shown(raw)}.")
    elif raw not in evaluator.scope.parameters and raw not in evaluator.scope.broken_parameters:
        evaluator.fail(f"There is no {what} '{raw}'.")
    else:
        return _parameter(evaluator, raw, [])
    return None


# -- what evaluates only a part -------------------------------------------------------------


@form("if")
def if_else(evaluator: Evaluator, raw: Any) -> Any:
    """Return one of two values, as a condition decides."""
    return _choose(evaluator, raw, (3,))


@form("if")
def if_dropping(evaluator: Evaluator, raw: Any) -> Any:
    """Return one of two values, as a condition decides; without a second one, drop the item."""
    return _choose(evaluator, raw, (2, 3))


def _choose(evaluator: Evaluator, raw: Any, lengths: tuple[int, ...]) -> Any:
    if not isinstance(raw, list) or len(raw) not in lengths:
        parts = "a condition, a value if it holds and a value if not"
        evaluator.fail(f"It takes a list of {parts}{' (optional)' if 2 in lengths else ''}.")
        return None
    with evaluator.problems.at(0):
        holds = evaluator.truth(raw[0])
    if evaluator.state == BROKEN:
        return None
    if isinstance(holds, Deferred):
        return holds
    index = 1 if holds else 2
    return evaluator.child(index, raw[index]) if index < len(raw) else DROPPED


# -- conditions --------------------------------------------------------------------------------


@form("equals")
def equals(evaluator: Evaluator, raw: Any) -> Any:
    """Tell whether two values are equal."""
    if not isinstance(raw, list) or len(raw) != 2:
        evaluator.fail("It takes a list of two values.")
        return None
    first, second = (evaluator.child(index, item) for index, item in enumerate(raw))
    return first == second


@form("not")
def negation(evaluator: Evaluator, raw: Any) -> Any:
    """Tell whether a condition does not hold."""
    return not evaluator.truth(raw)


@form("Fn::Not")
def fn_not(evaluator: Evaluator, raw: Any) -> Any:
    """Tell whether a condition does not hold."""
    if not isinstance(raw, list) or len(raw) != 1:
        evaluator.fail("It takes a list of one condition.")
        return None
    with evaluator.problems.at(0):
        return not evaluator.truth(raw[0])


@form("and")
def conjunction(evaluator: Evaluator, raw: Any) -> Any:
    """Tell whether all of several conditions hold."""
    return all(_truths(evaluator, raw))


@form("or")
def disjunction(evaluator: Evaluator, raw: Any) -> Any:
    """Tell whether one of several conditions holds."""
    return any(_truths(evaluator, raw))


def _truths(evaluator: Evaluator, raw: Any) -> list[bool | Deferred]:
    if not isinstance(raw, list) or len(raw) < 2:
        evaluator.fail("It takes a list of at least two conditions.")
        return []
    result = []
    for index, item in enumerate(raw):
        with evaluator.problems.at(index):
            result.append(evaluator.truth(item))
    return result


fn_if = replace(if_else, name="Fn::If")
fn_equals = replace(equals, name="Fn::Equals")
fn_and = replace(conjunction, name="Fn::And")
fn_or = replace(disjunction, name="Fn::Or")

#: What forms leave for run time.
RUN_TIME = (lookups.get_param, lookups.get_attr_then_select)


# -- what cannot be used here ---------------------------------------------------------------------


def forbidden(name: str, sentence: str) -> Form:
    """Return a form that is always a mistake."""

    def expand(evaluator: Evaluator, _raw: Any) -> None:
        evaluator.fail(sentence)

    return Form(name, sentence, expand, listed=False)


def _static(evaluator: Evaluator, raw: Any, what: str) -> Any:
    """Return an argument that must be known while freezing; None if a mistake was reported."""
    value = evaluator.evaluate(raw)
    if evaluator.state == DEFERRED:
        evaluator.fail(f"It takes {what}, which must not depend on another resource.")
    elif evaluator.state == STATIC and (value is None or value is DROPPED):
        evaluator.fail(f"It takes {what}, not null.")
    return None if evaluator.state == BROKEN else value


def _shown(value: Any) -> str:
    if isinstance(value, Deferred) or value is DROPPED:
        return "something that only run time can know"
    return f"{kind_of(value)} ({excerpt(value)})"
