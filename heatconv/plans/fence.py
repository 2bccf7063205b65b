# SPDX-License-Identifier: Apache-2.0
"""What a plan goes by: if any of that is otherwise when it is applied, it does not hold any more.

The plan is made anew then, by the same code, and has to say the same.  Beside that it remembers how
the rows were that it touches, and what those gave that it goes by: of a change that comes to the
same in the end, its user should know as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from heatconv.model.definition import Definition
from heatconv.model.records import ResourceRow
from heatconv.model.unknown import Place
from heatconv.plans.forecast import Act, Forecast

Json = Mapping[str, Any]


def rows_of(forecasts: Iterable[Forecast], read: Iterable[ResourceRow]) -> dict[str, list[Any]]:
    """Return where rows are, and how, by their ids: of what is touched all, of others what they give."""
    said = list(forecasts)
    touched = {each.row_id for each in said if each.act is not Act.NOTHING}
    inside = {each.stack_id: each.place[:-1] for each in said}
    return {
        row.id: [
            "/".join((*inside.get(row.stack_id, ()), row.name)),
            *(_in_full if row.id in touched else _given)(row),
        ]
        for row in read
    }


def _in_full(row: ResourceRow) -> list[Any]:
    return [*_given(row), _own(row.desired), _own(row.applied), row.physical_id, row.status]


def _own(definition: Definition | None) -> str | None:
    """Return the digest of a definition but for what it inherits: that is judged by what it does inside."""
    return None if definition is None else definition.changed(inherits="").sha1


def _given(row: ResourceRow) -> list[Any]:
    return [row.output_version]


def hidden_of(forecasts: Iterable[Forecast]) -> list[list[Any]]:
    """Return what of the values that are shown to nobody has to be the same: where they are, and digests."""
    return [
        [list(each.place), change.path, change.sha1]
        for each in sorted(forecasts, key=lambda each: each.place)
        for change in each.changes
        if change.sha1 is not None
    ]


def changed_secret(then: Iterable[Any], forecasts: Iterable[Forecast]) -> str | None:
    """Return what to say of the first hidden value that would be another than it was to be; None: of none."""
    now = {(*place, path): sha1 for place, path, sha1 in hidden_of(forecasts)}
    for place, path, sha1 in then:
        if now.get((*place, path), sha1) != sha1:
            return f"of {'/'.join(place)}: {path}, which is hidden, would be another"
    return None


def changed_rows(then: Json, now: Json) -> dict[str, str]:
    """Return where rows are that are not as they were, or are not gone by any more, by their ids."""
    return {row_id: where for row_id, (where, *state) in then.items() if now.get(row_id, [""])[1:] != state}


def beyond(
    then: Iterable[Json], now: Iterable[Forecast], pending: Iterable[Forecast] = ()
) -> list[tuple[Place, str]]:
    """Return what is not as it was said, by places: what a plan made now says, and the one then did not.

    Args:
        then: what the plan said, in the words of the published schema.
        now: what it says now.
        pending: what happens anyway, for others have begun it: that is no word of the plan's.
    """
    others: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for each in (forecast.to_json() for forecast in pending):
        others.setdefault(_key(each), []).append(_statement(each))
    said = {_key(each): each for each in then}
    found = [(each.place, each.to_json()) for each in now if each.act is not Act.NOTHING]
    wrong = []
    met = set()
    for place, each in found:
        key = _key(each)
        met.add(key)
        before = said.get(key)
        if before is None and _statement(each) in others.get(key, ()):
            continue
        if before is None:
            wrong.append((place, f"it would be {_passive(each)} now, and was not to be touched"))
        elif _statement(before) != _statement(each):
            wrong.append((place, f"it was to be {_passive(before)}, and would be {_passive(each)} now"))
    wrong += [
        (tuple(each["path"]), f"it was to be {_passive(each)}, and would not be now")
        for key, each in said.items()
        if key not in met
    ]
    return wrong


def _key(each: Json) -> tuple[Any, ...]:
    gone = each["action"] in (Act.DELETE, Act.RETAIN)
    return (*each["path"], each["physical_resource_id"] if gone else None, gone)


def _statement(each: Json) -> tuple[Any, ...]:
    """Return what has to be the same: what is done, how surely, and what of it is known."""
    changes = [
        (change["path"], canonical_value(change["after"]), change["unknown"]) for change in each["changes"]
    ]
    return (each["action"], each["certainty"], sorted(changes))


def canonical_value(value: Any) -> str:
    """Return a text of a value that is the same of values that are."""
    return repr(value)


_DONE = {
    Act.CREATE: "created",
    Act.ADOPT: "adopted",
    Act.UPDATE: "updated",
    Act.HEAL: "healed",
    Act.REPLACE: "replaced",
    Act.DELETE: "deleted",
    Act.RETAIN: "let go of",
    Act.CHECK: "looked at",
    Act.NOTHING: "left alone",
}


def _passive(each: Json) -> str:
    done = _DONE[Act(each["action"])]
    return done if each["certainty"] == "certain" else f"{done} perhaps"
