# SPDX-License-Identifier: Apache-2.0
"""What a plan said, held against what the cloud was asked, and what is there."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from heatconv.testing.parameters import as_given
from heatconv.testing.templates import Template
from heatconv.testing.trees import Group, Nested, Place, differences, place_of
from tests.functional.plans import pieces
from tests.functional.plans.carried import Carried, stays

Json = dict[str, Any]

MAKING = ("create", "replace", "update", "heal")
NOTHING = {"value": "", "flavor": "small", "uses": []}  #: what an object has of which nothing is wanted
_FOLLOWS = re.compile(r"(\S+) follows (\S+)")
_OTHERWISE = re.compile(r"(\w+)\.(\S+) is wanted otherwise")


def broken_words(carried: Carried) -> list[str]:
    """Return what a plan said that was not so, a sentence each."""
    checks = (_unfulfilled, _unsaid, _others, _wrong_values, _wrong_reasons, _wrong_order, _not_left_alone)
    broken = [miss for check in checks for miss in check(carried)]
    wanted = [found for found in carried.now if found["id"] not in carried.left]
    return [*broken, *_sloppy(carried.plan), *differences(as_given(carried.after), wanted)]


# -- what happened -------------------------------------------------------------------------------------


def _unfulfilled(carried: Carried) -> Iterator[str]:
    """Yield what was certain, and did not happen."""
    for place, statements in carried.said.items():
        for each in statements:
            for op in _outcomes(each) if each["certainty"] == "certain" else ():
                excused = op in ("delete", "snapshot") and each["physical_resource_id"] in carried.gone
                if not excused and not carried.ops.get(place, Counter())[op]:
                    yield f"{each['action']} of {place} was certain, and no {op} happened"


def _unsaid(carried: Carried) -> Iterator[str]:
    """Yield what happened, and was neither certain nor possible, or happened more often than that."""
    for place, ops in carried.ops.items():
        statements = carried.said.get(place, ())
        allowed = Counter(op for each in statements for op in _outcomes(each))
        if any(each["certainty"] == "possible" for each in statements):
            allowed["update"] += 1
        if _is_put_right_before_its_batch(carried, place):
            allowed += allowed + Counter(["update"])
        if _is_in_stand_in(carried, place):
            allowed += Counter(["create", "delete"])
        for op, times in ops.items():
            if not allowed[op]:
                yield f"{op} of {place} happened, and was not said"
            elif op != "update" and times > allowed[op]:
                yield f"{op} of {place} happened {times} times, and was said {allowed[op]} times"


def _is_in_stand_in(carried: Carried, place: Place) -> bool:
    """Tell whether something is in a stack that is made just to stand in for others, and goes again."""
    around = [each for depth in range(1, len(place)) for each in carried.said.get(place[:depth], ())]
    sentences = [reason["sentence"] for each in around for reason in each["because"]]
    return "it stands in for members that are changed" in sentences


def _is_put_right_before_its_batch(carried: Carried, place: Place) -> bool:
    """Tell whether a member has drifted, which is put right at once, and changed when its batch is due."""
    around = [pieces.at(as_given(carried.after), list(place[:depth])) for depth in range(1, len(place))]
    in_batches = any(isinstance(each, Group) and (each.scaled or each.pace is not None) for each in around)
    said = carried.said.get(place, ())
    return in_batches and any(each["physical_resource_id"] in carried.drifted for each in said)


def _others(carried: Carried) -> Iterator[str]:
    """Yield what happened to other objects than was said."""
    for place, statements in carried.said.items():
        known = {each["physical_resource_id"] for each in statements}
        known |= {entry.object_id for entry in carried.of_kind(place, "create")}
        for entry in carried.of_kind(place, "update", "delete"):
            if entry.object_id not in known:
                yield f"{entry.op} of {place} was of {entry.object_id}, and that is none of {known}"


def _outcomes(each: Json) -> Iterator[str]:
    """Yield what the cloud is asked by what a plan says of a resource."""
    types = [change["before"]["made"] for change in each["changes"] if change["path"] == "type"]
    if each["action"] in ("create", "replace") and _is_ours(each["type"]):
        yield "create"
    if each["action"] in ("update", "heal") and _is_ours(each["type"]):
        yield "update"
    if each["action"] in ("delete", "replace") and not stays(each) and _is_ours(*types or [each["type"]]):
        yield "delete"
        if "Snapshot" in (each["left_behind"] or ""):
            yield "snapshot"


def _is_ours(type_: str) -> bool:
    return type_.startswith("Fake::")


# -- what is shown -------------------------------------------------------------------------------------


def _wrong_values(carried: Carried) -> Iterator[str]:
    """Yield the values that were shown, and are others."""
    was = {found["id"]: found["properties"] for found in carried.was}
    there = {found["id"]: found["properties"] for found in carried.there}
    for place, each in _certain(carried):
        sent: Json = {}
        for entry in carried.of_kind(place, "create", "update") if each["action"] in MAKING else ():
            sent |= entry.properties or {}
        before = {"made": was.get(each["physical_resource_id"])}
        before["observed"] = there.get(each["physical_resource_id"])
        changes = {
            change["path"].partition(".")[2]: change
            for change in each["changes"]
            if change["path"].startswith("properties.")
        }
        for name, change in changes.items():
            if not change["hidden"]:
                yield from _wrong_change(place, name, change, sent, before)
        if each["action"] in ("update", "heal"):
            for name in sent.keys() - changes.keys():
                yield f"{name} of {place} was changed, and that was not shown"


def _wrong_change(
    place: Place, name: str, change: Json, sent: Json, before: Mapping[str, Json | None]
) -> Iterator[str]:
    if sent and not change["unknown"] and _or_nothing(sent, name) != change["after"]:
        yield f"{name} of {place} was to be {change['after']!r}, and became {sent.get(name)!r}"
    for shown, properties in before.items():
        value = change["before"][shown]
        never = shown == "observed" and change["before"]["observed_at"] is None
        if properties is None or never or value == "(hidden)":
            continue
        if value != _or_nothing(properties, name):
            yield f"{name} of {place} was {properties.get(name)!r}, and shown as {shown} {value!r}"


def _or_nothing(properties: Mapping[str, Any], name: str) -> Any:
    found = properties.get(name)
    return NOTHING.get(name) if found is None else found


def _certain(carried: Carried) -> Iterator[tuple[Place, Json]]:
    """Yield the certain statements on objects."""
    for place, statements in carried.said.items():
        for each in statements:
            if each["certainty"] == "certain" and _is_ours(each["type"]):
                yield place, each


def _wrong_reasons(carried: Carried) -> Iterator[str]:
    """Yield the reasons that were said, and are none."""
    for place, statements in carried.said.items():
        for each in statements:
            said = [reason["sentence"] for reason in each["because"]]
            if not said:
                yield f"no reason is said for {each['action']} of {place}"
            if (
                any("it has drifted" in each for each in said)
                and each["physical_resource_id"] not in carried.drifted
            ):
                yield f"{place} has not drifted, and that was said: {said}"
            for reason in each["because"]:
                yield from _wrong_reason(carried, place, reason)
            if (each["action"] == "replace") != bool(each["replaced_because"]):
                yield f"{place}: {each['action']} because {each['replaced_because']}"
    for place, each in _certain(carried):
        if each["action"] == "replace":
            yield from _no_reason_to_replace(carried, place, each)


def _wrong_reason(carried: Carried, place: Place, reason: Json) -> Iterator[str]:
    for via in reason["via"]:
        if tuple(via) not in carried.said:
            yield f"{place} is said to change by way of {via}, of which nothing is said"
    entry = pieces.at(as_given(carried.after), list(place))
    follows = _FOLLOWS.fullmatch(reason["sentence"])
    if follows is not None and entry is not None and follows[2] not in pieces.used_by(entry):
        yield f"{place} does not refer to {follows[2]}, and that was said: {reason['sentence']}"
    otherwise = _OTHERWISE.fullmatch(reason["sentence"])
    before = pieces.at(as_given(carried.before), list(place))
    if otherwise is None or reason["via"] or entry is None or before is None:
        return
    part, name = otherwise.groups()
    made, wanted = (each.hot().get(part, {}).get(name) for each in (before, entry))
    if made == wanted:
        yield f"{place}: {reason['sentence']}, and it is still {wanted}"


def _no_reason_to_replace(carried: Carried, place: Place, each: Json) -> Iterator[str]:
    """Yield if another was made of what could have been left or updated, by what the cloud knows of both."""
    old_id, made = each["physical_resource_id"], carried.of_kind(place, "create")
    for entry in made:
        old = next((found for found in carried.there if found["id"] == old_id), None)
        first = next((found for found in carried.was if found["id"] == old_id), old)
        if old is None or first is None or old["status"] == "ERROR" or old["kind"] != entry.kind:
            continue
        flavors = {found["properties"]["flavor"] for found in (old, first)}
        if flavors == {(entry.properties or {})["flavor"]}:
            yield f"{place} was replaced, and has the flavor that it had"
        elif "properties.flavor" not in {
            change["path"] for change in each["changes"] if change["replaces"] and not change["equal"]
        }:
            yield f"{place} was replaced for its flavor, and that was not said: {each['changes']}"


# -- when it happened ----------------------------------------------------------------------------------


def _wrong_order(carried: Carried) -> Iterator[str]:
    """Yield what was made before what it requires, or went after it; and what went before all was made."""
    orders = {
        place: each["order"]
        for place, statements in carried.said.items()
        for each in statements
        if each["action"] not in ("delete", "retain")
    }
    for place, required in _requirements(as_given(carried.after)):
        if place in orders and required in orders and orders[place] <= orders[required]:
            yield f"{place} is said to come before {required}, which it requires"
        later, earlier = _sequences(carried, place), _sequences(carried, required)
        if later and earlier and later[0] < earlier[-1]:
            yield f"{place} was changed before {required}, which it requires"
    for place, required in _requirements(as_given(carried.before)):
        later, earlier = _deletions(carried, required), _deletions(carried, place)
        if later and earlier and later[0] < earlier[-1]:
            yield f"{required} went before {place}, which required it"
    last = max((each.entry.sequence for each in carried.asked if each.op in ("create", "update")), default=-1)
    for each in carried.asked:
        if each.op == "delete" and len(each.place) == 1 and each.entry.sequence < last:
            yield f"{each.place} went before all else was made"


def _requirements(template: Template, inside: Place = ()) -> Iterator[tuple[Place, Place]]:
    """Yield each place of a tree with each that it requires."""
    for name, entry in template.items():
        for required in pieces.used_by(entry):
            yield (*inside, name), (*inside, required)
        if isinstance(entry, Nested):
            yield from _requirements(entry.template, (*inside, name))


def _sequences(carried: Carried, place: Place) -> list[int]:
    """Return when something was made or changed at a place, or inside."""
    return [
        each.entry.sequence
        for each in carried.asked
        if each.place[: len(place)] == place and each.op in ("create", "update")
    ]


def _deletions(carried: Carried, place: Place) -> list[int]:
    """Return when something went at the very place."""
    return [each.entry.sequence for each in carried.asked if each.place == place and each.op == "delete"]


# -- what stays ----------------------------------------------------------------------------------------


def _not_left_alone(carried: Carried) -> Iterator[str]:
    """Yield what was not to be touched, or was to stay, and is not as it was."""
    now = {found["id"]: found for found in carried.now}
    for found in carried.there:
        place = place_of(found["owner"])[1]
        stays = found["id"] in carried.left
        if (stays or place not in carried.said) and now.get(found["id"]) != found:
            yield f"{place} was to be left as it is: {found}, and is {now.get(found['id'])}"
        around = [place[:depth] for depth in range(1, len(place) + 1)]
        if stays and not any("Retain" in _policies(carried, each) for each in around):
            yield f"{place} stays, and no policy of its says so"


def _policies(carried: Carried, place: Place) -> set[str | None]:
    templates = [as_given(template) for template in (carried.before, carried.after)]
    return {getattr(pieces.at(template, list(place)), "policy", None) for template in templates}


# -- what each plan has to be --------------------------------------------------------------------------


def _sloppy(plan: Json) -> Iterator[str]:
    """Yield what no plan may be, whatever it says."""
    counts = Counter(f"{each['action']} {each['certainty']}" for each in plan["resources"])
    summed = {
        f"{action} {certainty}": count
        for action, each in plan["summary"].items()
        if isinstance(each, dict)
        for certainty, count in each.items()
        if count
    }
    if summed != counts:
        yield f"the summary has {summed}, and the plan {counts}"
    if any(secret in json.dumps(plan) for secret in pieces.SECRETS):
        yield "a secret is shown"
    said = [each["path"] for each in plan["resources"]]
    for each in plan["resources"]:
        if (each["certainty"] == "possible") != bool(each["hangs_on"]):
            yield f"{each['path']} is {each['certainty']}, and hangs on {each['hangs_on']}"
        for hang in each["hangs_on"]:
            if hang["path"] not in said:
                yield f"{each['path']} hangs on {hang['path']}, of which nothing is said"
        if each["problem"] is not None:
            yield f"{each['path']} was to fail: {each['problem']}"
