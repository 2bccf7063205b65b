# SPDX-License-Identifier: Apache-2.0
"""A plan as text: a tree with a sign before each resource, and one line that sums it up.

The signs do without colour.  A tree that is too long to be read is cut: what is left out is the
least dangerous, and is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.text import Text

from heatconv.cli.plan_facts import Kind, lasting, place, plain
from heatconv.cli.plan_outline import Entry, Outline, Path
from heatconv.client.http import Json

#: Sign and colour of each action.
SIGNS = {
    "create": ("+", "green"),
    "update": ("~", "yellow"),
    "replace": ("-/+", "magenta"),
    "delete": ("-", "red"),
    "retain": ("=", "blue"),
    "heal": ("!", "cyan"),
    "adopt": (">", "green"),
    "check": ("*", "dim"),
}

#: Actions that are counted though there are none of them, and those that are not.
_ALWAYS, _ELSE = ("create", "replace", "update", "delete"), ("heal", "adopt", "retain", "check")
#: Of these it is said which properties change, where they are many.
_CHANGING = {"update", "replace", "heal"}

_STYLES = {Kind.CHANGE: "", Kind.PROBLEM: "bold red", Kind.REASON: "dim"}

_LONGEST = 400_000  #: bytes of the tree
_SPACE = 6  #: the width of a sign, with what is beside it
_NAME = 80  #: characters of a name


def summary(counts: Json) -> str:
    """Return a plan in one line: ``3 to create, 1 to replace (possible), ...; 4 untouched; about 40 s``."""
    said = [_count(counts, action) for action in _ALWAYS]
    said += [_count(counts, action) for action in _ELSE if any(counts[action].values())]
    time = "" if counts["seconds"] is None else f"; about {lasting(counts['seconds'])}"
    return f"{', '.join(said)}; {counts['untouched']:,} untouched{time}"


def changes_anything(counts: Json) -> bool:
    """Return whether there is anything that a plan would or might change."""
    return any(any(counts[action].values()) for action in SIGNS if action != "check")


def lines(plan: Json, outline: Outline) -> Iterator[Text]:
    """Yield the lines of a plan whose resources are in the outline."""
    yield from _head(plan)
    yield Text()
    if entries := outline.entries():
        yield from _bounded(_tree(entries), plan["id"])
        yield Text()
    for guard in plan["guards"]:
        yield Text(f"Breaks the rule {plain(guard['rule'])}: {plain(guard['sentence'])}", "bold red")
    if plan["summary"]["history"]:
        yield Text(f"The time goes by {plan['summary']['history']:,} past actions.", "dim")
    yield Text(summary(plan["summary"]), "bold")


def _head(plan: Json) -> Iterator[Text]:
    name = plain(plan["stack"]["name"])
    yield Text.assemble((f"{plan['action']} {name}", "bold"), f"  plan {plan['id']}")
    yield Text(
        "It cannot be applied: it breaks a rule."
        if plan["guards"]
        else {
            "ready": f"It can be applied until {plan['expires_at']}: heatconv stack apply {plan['id']}",
            "applied": "It has been applied.",
            "refused": f"It cannot be applied: {plain(plan['refusal'] or '')}",
        }[plan["state"]]
    )
    if plan["under_way"]:
        action, since = plan["under_way"]["action"], plan["under_way"]["since"]
        yield Text(f"{action} is under way since {since}; the plan is on top of that.", "yellow")


def _tree(entries: Iterable[Entry], above: Path = (), of: str = "") -> Iterator[Text]:
    """Yield the lines of entries inside a resource: ``above`` is its path, ``of`` what it is called."""
    for entry in entries:
        path = (*above, entry.names[0])
        yield Text("  " * len(above)) + _label(entry, of)
        indent = " " * (2 * len(path) + _SPACE)
        facts = entry.detail.facts if entry.detail else ()
        if facts and not entry.same:
            yield Text(f"{indent}each differently; {place(path)}, for instance:", "dim")
        yield from (Text(f"{indent}{fact.text}", _STYLES[fact.kind]) for fact in facts)
        yield from _tree(entry.below, path, "each" if entry.count > 1 else entry.names[0])


def _label(entry: Entry, of: str) -> Text:
    sign, colour = SIGNS[entry.shape.action] if entry.shape else ("", "")
    unsure = " ?" if entry.shape and not entry.shape.certain else ""
    label = Text.assemble((f"{sign}{unsure}".ljust(_SPACE), colour), (_named(entry, of), "bold"))
    if entry.shape:
        label.append(f"  {plain(entry.shape.type)}")
    if entry.physical_id:
        label.append(f"  {plain(entry.physical_id)}", "dim")
    return label


def _named(entry: Entry, of: str) -> str:
    """Return what an entry is called: ``server``, or ``400 members of workers: image  (0, 1, 2, ...)``."""
    names = ", ".join(plain(name, _NAME) for name in entry.names)
    if entry.count == 1:
        return names
    many = f"{entry.count:,} members of {plain(of, _NAME)}" if of else f"{entry.count:,} resources"
    shape = entry.shape
    what = (
        f": {', '.join(shape.properties)}" if shape and shape.action in _CHANGING and shape.properties else ""
    )
    return f"{many}{what}  ({names}, ...)"


def _bounded(tree: Iterable[Text], plan: str) -> Iterator[Text]:
    """Yield lines as long as they are not too many, and then how many are left out."""
    size = left_out = 0
    for line in tree:
        size += len(line.plain.encode(errors="replace")) + 1
        if size <= _LONGEST:
            yield line
        else:
            left_out += 1
    if left_out:
        yield Text(f"... and {left_out:,} lines more: heatconv plan show {plan} --format json", "bold")


def _count(counts: Json, action: str) -> str:
    """Return how many resources an action is for: ``3 to create``, ``2 to replace (1 possible)``."""
    certain, possible = counts[action]["certain"], counts[action]["possible"]
    said = f"{certain + possible:,} to {action}"
    if not possible:
        return said
    return f"{said} (possible)" if not certain else f"{said} ({possible:,} possible)"
