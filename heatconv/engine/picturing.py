# SPDX-License-Identifier: Apache-2.0
"""What a stack looks like: its resources, rolled up and placed, so that one of any size can be drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from heatconv.db.convergence import nested, resources
from heatconv.db.observation import drifted
from heatconv.db.plumbing.session import Database
from heatconv.engine import views
from heatconv.engine.lookup import find as find_stack
from heatconv.graph.picture import Kind, Mark, Node, members, paint
from heatconv.model.records import Drawn
from heatconv.model.states import Action, Status
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]

FOUND = 50  #: resources that are named of those somebody looks for
MEMBERS = 200  #: resources that are named of those that are rolled up in a mark


class Picturing:
    """Answers from the database alone; what is nested in a resource is a picture of its own."""

    def __init__(self, database: Database) -> None:
        """Keep what is handed in."""
        self._database = database

    def show_picture(
        self, context: RequestContext, stack: str, most: int, find: str = "", mark: str | None = None
    ) -> Json:
        """Return what is drawn of a stack, what of it has a text in its name, and what is in a mark."""
        of = find_stack(self._database, context, stack)
        rows = {_name(row): row for row in reversed(resources.drawn(self._database, of.id))}
        drifting = drifted.names(self._database, of.id)
        inside = {each.owner_id: each for level in nested.below(self._database, of.id, 1) for each in level}
        nodes = [_node(name, row, drifting) for name, row in sorted(rows.items())]
        found = _found(rows, find) if find else []
        picture = paint(nodes, most=most, wanted=found)

        def shown(node: Node) -> Json:
            row = rows[node.name]
            stack_of = inside.get(row.id)
            return {
                "name": row.name,
                "type": row.type,
                "kind": node.kind,
                "action": row.action,
                "status": row.status,
                "nested": stack_of and views.identity(stack_of),
            }

        def drawn(each: Mark) -> Json:
            place = {"key": each.key, "count": len(each.nodes), "column": each.column, "row": each.row}
            return shown(each.nodes[0]) | place

        opened = members(nodes, mark, most=most)[:MEMBERS] if mark else ()
        return {
            "stack": views.identity(of),
            "total": len(nodes),
            "kinds": Counter(node.kind for node in nodes),
            "marks": [drawn(each) for each in picture.marks],
            "edges": [[each.required, each.by, list(each.lanes)] for each in picture.edges],
            "left_out": picture.left_out,
            "found": found,
            "members": [shown(node) for node in opened],
        }


def _name(row: Drawn) -> str:
    """Return what a row is called in a picture, in which several may stand for a name."""
    return row.name if row.requires is not None else f"{row.name} ({row.id})"


def _found(names: Iterable[str], text: str) -> list[str]:
    """Return the names with a text in them: first the text itself, then what begins with it, then the rest.

    In which case it is written makes no difference but between two names that are alike but for that.
    """
    folded = text.casefold()

    def distance(name: str) -> tuple[bool, bool, bool, str]:
        own = name.casefold()
        return name != text, own != folded, not own.startswith(folded), name

    return sorted((name for name in names if folded in name.casefold()), key=distance)[:FOUND]


def _node(name: str, row: Drawn, drifting: set[str]) -> Node:
    return Node(name=name, type=row.type, kind=_kind(row, drifting), requires=row.requires or ())


def _kind(row: Drawn, drifting: set[str]) -> Kind:
    if row.status is Status.FAILED:
        return Kind.BROKEN
    if row.status is Status.IN_PROGRESS:
        return Kind.MOVING
    if row.requires is None:
        return Kind.GOING
    if row.name in drifting:
        return Kind.DRIFTED
    return Kind.WAITING if row.action is Action.INIT else Kind.DONE
