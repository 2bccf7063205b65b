# SPDX-License-Identifier: Apache-2.0
"""What is referred to of a resource, as its plugin tells it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from heatconv.model.deferred import Reference
from heatconv.resources import exception
from heatconv.resources.attributes import plain
from heatconv.resources.resource import Resource


def values(plugin: Resource, references: Iterable[Reference]) -> dict[str, Any]:
    """Return the values that references ask for, by ``Reference.key``.

    An attribute that the type does not have is None: that it is a mistake
    was for validation to say.  An output of a nested stack with something
    wrong with it is left out: what that is tells whoever shows it.
    """
    found = {}
    for reference in references:
        if reference.attribute is not None:
            with suppress(exception.TemplateOutputError):
                found[reference.key] = _referenced(plugin, reference.attribute, reference.path)
    return found


def _referenced(plugin: Resource, attribute: str, path: tuple[str | int, ...]) -> Any:
    if not attribute:
        every = {name: plugin.get_attribute(name) for name in plugin.attributes if name != plugin.SHOW}
        return plain(every)
    try:
        return plain(plugin.get_attribute(attribute, *path))
    except exception.InvalidTemplateAttribute:
        return None
