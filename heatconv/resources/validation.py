# SPDX-License-Identifier: Apache-2.0
"""The mistakes of a definition that can be found before anything is done.

Pure checks of one frozen definition against its type; that the resources it
refers to exist, and in which order they come, is the template's and the
graph's business.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from typing import Any, Self

from heatconv import errors
from heatconv.model.deferred import Reference, contains_deferred
from heatconv.model.definition import Definition
from heatconv.model.secrets import account, masked_text
from heatconv.model.unknown import contains_unknown
from heatconv.resources import exception
from heatconv.resources.clients.status import http_status, is_away
from heatconv.resources.facts import StackFacts
from heatconv.resources.hooks import Hooks
from heatconv.resources.resource import Resource
from heatconv.resources.rsrc_defn import ResourceDefinition
from heatconv.resources.schema import Problem
from heatconv.resources.unknown import Seen, as_unknown

LOG = logging.getLogger(__name__)


class Unavailable(str):
    """The sentence for a type whose service is not there, which clients tell from other mistakes."""

    __slots__ = ()

    @classmethod
    def of(cls, resource_class: type[Resource], definition: Definition, why: str | None) -> Self:
        """Return the sentence for the type of a definition."""
        return cls(
            exception.ResourceTypeUnavailable(
                service_name=resource_class.default_client_name,
                resource_type=definition.type,
                reason=why,
            )
        )


def problems(
    resource_class: type[Resource],
    definition: Definition,
    stack: StackFacts,
) -> list[Problem]:
    """Return all mistakes of a frozen definition, each as its path and a sentence.

    Args:
        resource_class: the class of its type.
        definition: the frozen definition.
        stack: what its plugin may know of its stack.

    Raises:
        NotJudged: a service that knows does not answer; the first one that does not is the last one asked.
    """
    path = f"resources.{definition.name}"
    judge = functools.partial(_problems, resource_class, definition, stack, path)
    try:
        found = judge(Seen.ALL)
        # Of a text that is not known yet a plugin is believed if it says so whatever that may be.
        if found and any(map(contains_deferred, definition.properties.values())):
            unseen = judge(Seen.REFERENCES)
            found = [problem for problem in found if problem in unseen]
    except errors.HeatconvError:
        raise
    except Exception as error:  # a plugin, or a service that it asks, may raise anything
        if is_away(error):
            reason = masked_text(str(error), definition.secrets)
            raise errors.NotJudged(what=path, reason=reason) from error
        LOG.warning(
            "%s: validating a %s failed: %s", path, definition.type, account(error, definition.secrets)
        )
        return [(path, fault_of(definition.type, error))]
    return found


def fault_of(type_name: str, error: Exception) -> str:
    """Return the sentence for an error that the plugin of a type did not mean to raise."""
    reason = str(error) or "no reason given"
    if http_status(error) is not None:
        return f"The service behind {type_name} refused to tell whether it is valid: {reason}"
    return f"The plugin of {type_name} failed on it: {type(error).__name__}: {reason}; tell your operator."


def _problems(
    resource_class: type[Resource],
    definition: Definition,
    stack: StackFacts,
    path: str,
    seen: Seen,
) -> list[Problem]:
    wanted = definition.changed(
        properties=as_unknown(definition.properties, seen),
        update_policy=as_unknown(definition.update_policy),
    )
    found = list(_policy_problems(resource_class, wanted, path))
    if definition.external_id is not None:
        # Its properties make nothing, so it takes none.
        return found + list(_external_problems(definition, path))
    available, why = resource_class.is_service_available(stack.context)
    if not available:
        return [*found, (f"{path}.type", Unavailable.of(resource_class, definition, why))]
    resource = resource_class(definition.name, wanted, stack)
    mistakes = _property_problems(resource, f"{path}.properties")
    # A plugin's own checks rely on properties that are valid each by itself.
    if not mistakes and resource_class.validate is not Hooks.validate:
        # Of a value that is not known yet a plugin may think anything.
        unsure = contains_unknown(wanted.properties)
        mistakes = list(_refusals(resource.validate, path, may_stumble=unsure))
    return found + mistakes


def judged_by_others(resource_class: type[Resource]) -> frozenset[str] | None:
    """Return the properties of a type that a service may judge otherwise next time.

    ``problems`` of a definition that gives none of them stay as they are.  None: of no
    definition they do, for the plugin itself is asked, or a service whatever is given.
    """
    own = ("validate", "validate_deletion_policy", "translation_rules", "is_service_available")
    if (
        resource_class.default_client_name is not None
        or any(_unbound(resource_class, name) is not _unbound(Resource, name) for name in own)
        or any(schema.asks_others for schema in resource_class.update_policy_schema.values())
    ):
        return None
    return frozenset(name for name, schema in resource_class.properties_schema.items() if schema.asks_others)


def _unbound(resource_class: type[Resource], name: str) -> object:
    method = getattr(resource_class, name)
    return getattr(method, "__func__", method)


def _property_problems(resource: Resource, path: str) -> list[Problem]:
    try:
        properties = resource.properties
    except errors.NotJudged:
        raise
    except (errors.HeatconvError, ValueError, TypeError) as error:
        # A value that cannot be translated mostly is wrong as it was given: the best problem is that one.
        given = resource.t.properties(resource.properties_schema, resource.context)
        return list(given.problems()) or list(_problems_of(error, path))
    return list(properties.problems())


def attribute_problems(resource_class: type[Resource], reference: Reference, path: str) -> list[Problem]:
    """Return what is wrong with a reference, written at ``path``, to a resource of the type."""
    if not reference.attribute or resource_class.may_have(reference.attribute):
        return []
    return [(path, f"The Referenced Attribute ({reference.resource} {reference.attribute}) is incorrect.")]


def _policy_problems(resource_class: type[Resource], wanted: Definition, path: str) -> Iterator[Problem]:
    may = functools.partial(resource_class.validate_deletion_policy, wanted.deletion_policy)
    yield from _refusals(may, f"{path}.deletion_policy")
    # Without a schema there is nobody the policy could matter to; templates carry such ones along.
    if wanted.update_policy and resource_class.update_policy_schema:
        yield from ResourceDefinition.of(wanted).update_policy(resource_class.update_policy_schema).problems()


def _external_problems(definition: Definition, path: str) -> Iterator[Problem]:
    for name in sorted(definition.requires):
        yield path, f"It has an external_id and is there already, so it cannot depend on {name}."


def _refusals(ask: Callable[[], Any], path: str, *, may_stumble: bool = False) -> Iterator[Problem]:
    """Yield what a plugin's own validation says."""
    try:
        answer = ask()
    except errors.NotJudged:
        raise
    except errors.HeatconvError as error:
        yield from _problems_of(error, path)
    except Exception as error:  # a plugin may raise anything
        if is_away(error):
            raise
        if not may_stumble:
            yield path, str(error) or type(error).__name__
    else:
        if answer:
            yield path, str(answer)


def _problems_of(error: Exception, path: str) -> Iterator[Problem]:
    """Yield the problems that an error holds, or the error itself as one."""
    if not isinstance(error, errors.Invalid):
        yield path, str(error)
        return
    instead = "" if isinstance(error, exception.StackValidationFailed) and error.names_place else path
    for where, sentence in error.problems:
        yield where or instead, sentence
