# SPDX-License-Identifier: Apache-2.0
"""What describes a stack, and what comes of that: the two ends of ``freezing``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from heatconv import template
from heatconv.model.plan import Target
from heatconv.model.records import RawTemplate
from heatconv.model.unknown import Unknown


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a stack is to be: the template to store, and what it wants of each resource."""

    raw: RawTemplate
    targets: Mapping[str, Target]
    parameters: Mapping[str, template.Parameter] = field(default_factory=dict)
    description: str = ""
    #: the resources of which nobody knows yet whether they are wanted at all
    unsure: Mapping[str, Unknown] = field(default_factory=dict)
    inside: int = 0  #: how many resources there will be in nested stacks, as far as is known yet

    def adopting(self, found: Mapping[str, Any] | None) -> Wanted:
        """Return the same with each definition knowing what is there of it already, if anything is."""
        if found is None:
            return self
        targets = {
            name: target._replace(definition=target.definition.changed(adopt=found.get(name) or {}))
            for name, target in self.targets.items()
        }
        return replace(self, targets=targets)


@dataclass(frozen=True, kw_only=True)
class Source:
    """What describes a stack, parsed: template, merged environment, files."""

    template: Mapping[str, Any]
    environment: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)
    facade: Mapping[str, Any] | None = None  #: of a nested stack: what its templates may ask of its owner
    refused_types: Collection[str] = ()  #: the types that whoever sent it may not use
    is_unsure: bool = False  #: something is written in it that nobody knows yet, see ``template.unknown``
    unnamed: Unknown | None = None  #: what stands for the name and the id of a stack that nobody knows yet


NO_SOURCE = Source(template={}, environment={})  #: of a stack that nothing is wanted of
