# SPDX-License-Identifier: Apache-2.0
"""Whose code Heat's resource types are here, and what is done for those that need a cloud.

Nothing of Heat is imported: the tables of ``heatconv.openstack`` are by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence

from heatconv.openstack import data, kinds, mends, ways
from heatconv.openstack.types import MODULES, OURS
from heatconv.resources import support
from heatconv.resources.registry import installed_types
from heatconv.resources.resource import Resource

#: The columns that ``notes`` fills for a type.
COLUMNS = ("Whose", "Made once, by", "Listed together, with", "Holds data", "Mended")

#: The types that are Heat's plugins here.
PLUGINS = frozenset(name for names in MODULES.values() for name in names)


def native() -> Mapping[str, type[Resource]]:
    """Return the types that are ours, those that need a cloud included."""
    return {**installed_types(), **{name: _load(place) for name, place in OURS.items()}}


def is_hidden(type_: type[Resource]) -> bool:
    """Tell whether a type is there for old templates only."""
    return type_.support_status.status == support.HIDDEN


def notes(name: str) -> Sequence[str]:
    """Return whose a type is, by what it is found again, what is listed, whether it has data, the mend."""
    way, kind, mend = ways.WAYS.get(name), kinds.KINDS.get(name), mends.TYPES.get(name)
    return (
        _whose(name),
        way.found_by if way else "",
        ", ".join(f"``{each}``" for each in sorted(kind.comparable)) or "that it is there" if kind else "",
        "yes" if name in data.HOLDERS else "",
        (mend.__doc__ or "").partition("\n")[0].rstrip(".") if mend else "",
    )


def _whose(name: str) -> str:
    if name in PLUGINS:
        return "Heat's"
    if name in OURS:
        return "ours, for a cloud"
    return "ours" if name in installed_types() else ""


def _load(place: str) -> type[Resource]:
    module, _, class_ = place.partition(":")
    found: type[Resource] = getattr(importlib.import_module(module), class_)
    return found
