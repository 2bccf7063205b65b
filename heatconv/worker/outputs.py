# SPDX-License-Identifier: Apache-2.0
"""What a resource gives to those that require it, and that it is as wanted."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from heatconv import errors
from heatconv.model.deferred import Reference
from heatconv.model.endings import Made
from heatconv.model.nodes import NodeData
from heatconv.model.records import Attempt, Job, ResourceRow
from heatconv.model.secrets import found_in, redacted_values, sentence
from heatconv.model.states import Action
from heatconv.resources import referenced
from heatconv.resources.driver import PluginDriver
from heatconv.resources.gone import is_gone
from heatconv.worker import faults, looks

LOG = logging.getLogger(__name__)


def made(job: Job, attempt: Attempt, driver: PluginDriver, action: Action | None) -> Made:
    """Return that a row is as an attempt wants it; ``action``: by what, None if nothing had to be done.

    Raises:
        PhysicalResourceGone: what it stands for is not there any more, as the reading of an attribute showed.
    """
    row, plugin = job.row, driver.plugin
    references = [_reference(row.name, key) for key in row.wanted_attributes]
    reference_and_attributes = plugin.FnGetRefId(), _attributes(job, driver, references)
    inside = plugin.stack.nested.secrets if plugin.stack.nested is not None else frozenset()
    secrets = redacted_values(driver.incarnation.data).union(attempt.definition.secrets, inside)
    return Made(
        job=job,
        attempt=attempt,
        output=output_of(row, *reference_and_attributes, secrets),
        physical_id=plugin.resource_id,
        action=action,
        notes=driver.incarnation.data
        if plugin.notes_may_wait and driver.incarnation.data != row.data
        else None,
    )


def _attributes(job: Job, driver: PluginDriver, references: Iterable[Reference]) -> dict[str, Any]:
    """Return the attributes that are referred to; one that its service refuses for good is left out.

    It is asked for again when the resource is next visited.  Where a service does not find what an
    attribute is of, it is asked whether the resource's thing is there at all.
    """
    plugin, attributes, not_found = driver.plugin, dict[str, Any](), False
    for reference in references:
        try:
            attributes |= referenced.values(plugin, [reference])
        except (errors.TransportError, errors.ConcurrencyError, errors.StorageError):
            raise
        except Exception as error:
            if faults.is_passing(error, Action.CHECK):
                raise
            not_found = not_found or is_gone(plugin, error)
            secrets = job.secrets.union(plugin.definition.secrets)
            said = sentence(f"{type(error).__name__}: {error}", secrets)
            LOG.warning("%s: its attribute %s could not be read: %s", plugin, reference.attribute, said)
    if (not_found or driver.was_not_found) and looks.is_missing(driver):
        raise errors.PhysicalResourceGone(name=job.row.name)
    return attributes


def _reference(name: str, key: str) -> Reference:
    attribute, *path = json.loads(key)
    return Reference(name, attribute, tuple(path))


def output_of(
    row: ResourceRow, reference_id: str | None, attributes: Mapping[str, Any], secrets: Iterable[str]
) -> NodeData:
    """Return what a row tells its dependents; its version grows if that is news to one of them."""
    known_before = row.attributes.keys() & row.wanted_attributes
    news = reference_id != row.reference_id or any(
        key not in attributes or row.attributes[key] != attributes[key] for key in known_before
    )
    return NodeData(
        name=row.name,
        resource_id=row.id,
        reference_id=reference_id,
        attributes=attributes,
        output_version=row.output_version + news,
        secrets=found_in([reference_id, attributes], row.secrets.union(secrets)),
    )
