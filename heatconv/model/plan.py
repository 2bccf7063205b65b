# SPDX-License-Identifier: Apache-2.0
"""What a traversal is to do: the values that planning it gives and starting it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from heatconv.model.definition import Definition
from heatconv.model.foreseen import Foreseen
from heatconv.model.nodes import Node
from heatconv.model.records import RawTemplate
from heatconv.model.states import Action, DeletionPolicy


class Target(NamedTuple):
    """One resource as the template wants it: its definition, and the attributes others refer to.

    A tuple, for it is made of each resource of a template whatever has changed.
    """

    definition: Definition
    attributes: frozenset[str] = frozenset()
    always: bool = False  #: its check could find something to do whatever did not change
    nested: bool = False  #: it stands for a stack of its own
    foreseen: Foreseen | None = None  #: what may be done by the plan that is applied; None: no plan is


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The graph of a traversal, and what its rows are to become.

    ``chosen`` maps each wanted name to the row that goes on with it; those in
    ``created`` have no row yet.  ``dirty`` are the names whose node is kept.
    ``requires`` is the graph: each node, and the nodes it requires.  ``joins``
    maps each node that stands for no resource to the one it joins for.
    ``inputs`` are (node, sender): the clean rows, which have no node, that tell
    kept nodes what they are.  ``policies`` are the deletion policies that rows
    without anything to be desired anew have to be given, by their ids.
    """

    chosen: Mapping[str, str]
    created: frozenset[str]
    dirty: frozenset[str]
    garbage: frozenset[str]
    requires: Mapping[Node, frozenset[Node]]
    joins: Mapping[Node, Node]
    inputs: tuple[tuple[Node, Node], ...]
    policies: Mapping[str, DeletionPolicy] = field(default_factory=dict)

    @property
    def leaves(self) -> tuple[Node, ...]:
        """The nodes that require nothing."""
        return tuple(node for node, requires in self.requires.items() if not requires)


@dataclass(frozen=True, kw_only=True)
class TraversalSpec:
    """What a stack is to be after a traversal, whatever kind of traversal that is.

    ``template``: a new one, the id of one that is there, or None to keep the
    stack's.  ``settings`` are columns of the stack that change with it.
    """

    action: Action
    timeout_secs: int
    targets: Mapping[str, Target] = field(default_factory=dict)
    template: RawTemplate | int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    tags: Sequence[str] | None = None  #: None: as they were
    sinks: Sequence[Mapping[str, Any]] | None = None  #: where events are delivered to; None: where they were
    changed_by: str | None = None  #: the name of who asks for it; None: no user does
    keep_events: int = -1  #: how many of the stack's events stay; all of them if negative
