# SPDX-License-Identifier: Apache-2.0
"""What a change of its definition means to a resource: nothing, an update, a replacement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heatconv.model.definition import Definition
from heatconv.resources import exception
from heatconv.resources.declared import updatable
from heatconv.resources.properties import Properties
from heatconv.resources.resource import Resource
from heatconv.resources.rsrc_defn import ResourceDefinition, ResourceDefinitionDiff
from heatconv.resources.updating import changed_properties


@dataclass(frozen=True)
class Update:
    """An update that is due: the arguments of ``handle_update``, in its order."""

    json_snippet: ResourceDefinition
    tmpl_diff: ResourceDefinitionDiff
    prop_diff: Mapping[str, Any]


def update_to(plugin: Resource, after: Definition) -> Update | None:
    """Return the update that makes a resource, as applied, match a resolved definition.

    None if nothing is to be done.  What depends on nothing but the order
    of things (``depends_on``, the description) is no difference.

    Raises:
        UpdateReplace: it takes a replacement.
        NotSupported: a property may not change at all.
    """
    snippet, before = ResourceDefinition.of(after), plugin.frozen_definition()
    plugin.regenerate_info_schema(snippet)
    after_props = plugin.parse_properties(after)
    due = plugin._needs_update(snippet, before, after_props, plugin.properties, None)
    if after.external_id != plugin.definition.external_id:
        raise exception.NotSupported(feature=f"Update to property external_id of {plugin.name}")
    if not due or after.external_id is not None:
        # What is somebody else's is looked at and never changed.
        return None
    after_props.validate()
    difference, changed = snippet - before, changed_properties(plugin.properties, after_props)
    if plugin.needs_replace_with_tmpl_diff(difference):
        raise exception.UpdateReplace(
            plugin.name, reasons=["its type says so of a template changed like this"]
        )
    _check_properties(plugin, changed, after_props)
    # Names that the rules have looked up are ids for the hooks, too.
    translated = snippet.translated(after_props.data)
    return Update(translated, difference, {key: after_props.get(key) for key in sorted(changed)})


def _check_properties(plugin: Resource, changed: set[str], after_props: Properties) -> None:
    """Refuse a change of some properties, or ask for a replacement, where one of them takes that."""
    fixed = sorted(key for key in changed if plugin.properties_schema[key].immutable)
    if fixed:
        raise exception.NotSupported(feature=f"Update to properties {', '.join(fixed)} of {plugin.name}")
    if changed and plugin.needs_replace_with_prop_diff(changed, after_props, plugin.properties):
        said = f"its type says so of a change of {', '.join(sorted(changed))}"
        raise exception.UpdateReplace(plugin.name, reasons=[said])
    lasting = sorted(changed - updatable(plugin))
    if lasting:
        raise exception.UpdateReplace(plugin.name, reasons=[f"{each} cannot be updated" for each in lasting])
