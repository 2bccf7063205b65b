# SPDX-License-Identifier: Apache-2.0
"""What describes a stack, and what comes of that: the two ends of ``freezing``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from heatconv import template
from heatconv.model.plan import Target
from heatconv.model.records import RawTemplate


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a stack is to be: the template to store, and what it wants of each resource."""

    raw: RawTemplate
    targets: Mapping[str, Target]
    parameters: Mapping[str, template.Parameter] = field(default_factory=dict)
    description: str = ""
    inside: int = 0  #: how many resources there will be in nested stacks, as far as is known yet


@dataclass(frozen=True, kw_only=True)
class Source:
    """What describes a stack, parsed: template, merged environment, files."""

    template: Mapping[str, Any]
    environment: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)
    facade: Mapping[str, Any] | None = None  #: of a nested stack: what its templates may ask of its owner
    refused_types: Collection[str] = ()  #: the types that whoever sent it may not use
    guessed: Collection[str] = ()  #: texts in place of what nobody knows before its owner is there
