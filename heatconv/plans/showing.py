# SPDX-License-Identifier: Apache-2.0
"""The parts of a resource that change, and why, as users may see them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from heatconv.model.deferred import references
from heatconv.model.definition import Definition
from heatconv.model.records import ResourceRow
from heatconv.model.secrets import masked
from heatconv.model.unknown import contains_unknown
from heatconv.plans.forecast import Change
from heatconv.plans.merging import digest
from heatconv.resources.declared import Declares, updatable

HIDDEN = "(hidden)"  #: in place of a value that has a secret
UNKNOWN = None  #: in place of a value that is not known yet; inside a list or a map as well

_PARTS = ("properties", "metadata", "update_policy")


@dataclass(frozen=True, kw_only=True)
class Showing:
    """Shows the changes of one resource."""

    wanted: Definition  #: with what is known of it filled in
    type: Declares
    secrets: Collection[str]  #: texts that must not be shown
    live: Mapping[str, Any] = field(default_factory=dict)  #: the properties that are not as they were made
    observed_at: str | None = None  #: when it was looked at last, if nothing was done to it since

    def new(self) -> list[Change]:
        """Return the parts of a resource of which there is nothing yet."""
        return [
            Change(path=f"{part}.{name}", **self._after(value))
            for part in _PARTS
            for name, value in sorted(getattr(self.wanted, part).items())
        ]

    def changes(self, row: ResourceRow, seen: Collection[str] | None, *, replaced: bool) -> list[Change]:
        """Return the parts of a row that are wanted otherwise than it was made.

        Args:
            row: as it is.
            seen: the properties that differ as the type sees them, to which two texts may be the
                same; None: it has not said.
            replaced: another is made, for whichever of these takes that.
        """
        made = row.applied
        if made is None:
            return self.new()
        found = []
        for part in _PARTS:
            names = _differing(getattr(made, part), getattr(self.wanted, part))
            if part == "properties":
                names |= {name for name in self.live if self.live[name] != self.wanted.properties.get(name)}
            if part == "properties" and seen is not None:
                names &= set(seen)
            lasting = self._lasting(names) if replaced and part == "properties" else ()
            found += [self._change(row, made, part, name, replaces=name in lasting) for name in sorted(names)]
        if made.implemented_by != self.wanted.implemented_by:
            other = self.wanted.type
            found.append(
                Change(path="type", desired=made.type, made=made.type, after=other, replaces=replaced)
            )
        return found

    def _lasting(self, names: set[str]) -> set[str]:
        """Return those of some properties that no update can change; a nested template has none."""
        return names & self.type.properties_schema.keys() - updatable(self.type)

    def _change(self, row: ResourceRow, made: Definition, part: str, name: str, *, replaces: bool) -> Change:
        before, value = getattr(made, part).get(name), getattr(self.wanted, part).get(name)
        desired = None if row.desired is None else getattr(row.desired, part).get(name)
        default = self._default(name) if part == "properties" else None
        after = self._after(default if value is None else value)
        live = self.live.get(name, default if before is None else before) if part == "properties" else before
        there = before if self.observed_at is None else live
        return Change(
            path=f"{part}.{name}",
            desired=self._shown(None if any(references(desired)) else desired),
            made=self._shown(default if before is None else before),
            equal=None if after["unknown"] else there == value,
            observed=None if self.observed_at is None else self._shown(live),
            observed_at=self.observed_at,
            replaces=replaces,
            **after,
        )

    def _default(self, name: str) -> Any:
        schema = self.type.properties_schema.get(name)
        return None if schema is None else schema.default

    def _after(self, value: Any) -> dict[str, Any]:
        known = _known(value)
        hidden = masked(known, self.secrets) != known
        return {
            "after": self._shown(known),
            "unknown": contains_unknown(value),
            "hidden": hidden,
            "sha1": digest(known) if hidden else None,
        }

    def _shown(self, value: Any) -> Any:
        """Return a value; one that has a secret anywhere is hidden as a whole."""
        return value if masked(value, self.secrets) == value else HIDDEN


def causes(
    before: Definition | None, after: Definition, changed: Collection[str]
) -> Iterator[tuple[str, set[str]]]:
    """Yield of each part that changes its path, and the resources by which it does; none: by itself.

    Both definitions are frozen.
    """
    for path in sorted(changed):
        part, _, name = path.partition(".")
        if part not in _PARTS:
            yield path, set()
            continue
        now = getattr(after, part).get(name)
        was = None if before is None else getattr(before, part).get(name)
        yield path, ({each.resource for each in references(now)} if was == now else set())


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}


def _known(value: Any) -> Any:
    """Return a value with nothing in place of what is not known yet."""
    if isinstance(value, dict):
        return {key: _known(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_known(item) for item in value]
    return UNKNOWN if contains_unknown(value) else value
