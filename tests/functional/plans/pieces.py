# SPDX-License-Identifier: Apache-2.0
"""What random templates are made of, and what in them refers to what."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from heatconv.testing.templates import (
    OFF,
    ON,
    OPAQUE,
    SERVER,
    UNFORESEEN,
    Attribute,
    Chosen,
    Entry,
    Param,
    Parameter,
    Template,
    Thing,
    Used,
    When,
    attr,
    thing,
)
from heatconv.testing.trees import (
    GIVEN,
    INDEX,
    Group,
    Joined,
    Nested,
    chain,
    group,
    joined,
    nested,
    scaled,
)

NAMES = "ABCDEFGH"
VALUES = ("1", "2", "3")
WORD, SECRET = "word", "secret"  #: parameters that are texts
SWITCHES = ("one", "other")  #: parameters that conditions go by
SECRETS = ("hush-1", "hush-2")  #: the values of what no plan may show
RETAIN, SNAPSHOT = "Retain", "Snapshot"  #: deletion policies

#: What each template takes, and is given at first.
PARAMETERS = {
    WORD: Parameter("1"),
    SECRET: Parameter(SECRETS[0], hidden=True),
    "one": Parameter(ON),
    "other": Parameter(OFF),
}

TYPES = (SERVER, OPAQUE, UNFORESEEN)
KINDS = {"thing": 6, "nested": 2, "group": 2, "scaled": 1, "chain": 1}


def new(before: Template, choice: random.Random) -> Entry:
    """Return a thing, a stack or a group, which may use those before it."""
    match choice.choices([*KINDS], [*KINDS.values()])[0]:
        case "nested":
            return nested(inside(choice), value(before, choice), file=file(choice))
        case "group":
            return group(choice.randint(0, 3), member(choice, choice.choice(VALUES) + INDEX))
        case "scaled":
            alone: list[str | Used] = [*VALUES, given_value(choice)]
            return scaled(choice.randint(0, 3), member(choice, choice.choice(alone)))
        case "chain":
            return chain(choice.randint(0, 3), member(choice, choice.choice(VALUES)))
        case _:
            made = thing(
                value(before, choice, ids=True),
                flavor=choice.choice(["small", "small", "large"]),
                uses=some_things(before, choice),
                type=choice.choices(TYPES, [6, 1, 1])[0],
            )
            return replace(made, policy=choice.choice([None, *policies(made)]))


def inside(choice: random.Random) -> Template:
    """Return the template of a nested stack, which may have another one in it."""
    template = Template(P=thing(GIVEN))
    if choice.random() < 0.5:
        template = template.but(Q=thing(attr("P"), flavor=choice.choice(["small", "large"]), uses=["P"]))
    if choice.random() < 0.3:
        template = template.but(M=nested(Template(P=thing(GIVEN)), attr("P"), file=file(choice)))
    return template


def member(choice: random.Random, given: str | Used) -> Thing | Nested:
    """Return what a group is made of: things, or stacks."""
    if choice.random() < 0.7:
        return thing(given)
    return nested(Template(P=thing(GIVEN)), given, file=file(choice))


def policies(entry: Thing | Nested) -> list[str | None]:
    """Return the deletion policies that a thing or a stack may have.

    One that stays when it is not wanted any more would keep what it uses from going.
    """
    if isinstance(entry, Nested):
        return [None, "Delete", RETAIN]
    stays = [] if entry.uses else [RETAIN]
    copied = [] if entry.type == OPAQUE else [SNAPSHOT]
    return [None, "Delete", *stays, *copied]


def file(choice: random.Random) -> str:
    """Return a name that no other file has."""
    return f"{choice.randrange(10**9)}.yaml"


def value(before: Template, choice: random.Random, *, ids: bool = False) -> str | Used:
    """Return a value, or the use of another's; with ``ids`` perhaps of what the cloud made up."""
    used: list[str | Used] = [*VALUES, given_value(choice), given_value(choice)]
    for name, entry in before.items():
        if isinstance(entry, Group):
            used.append(joined(name, scaled=entry.scaled))
        elif isinstance(entry, Thing):
            used += [attr(name)] if ids or not is_made_up(before, name) else []
            used += [attr(name, "id")] if ids else []
        elif isinstance(entry, Nested):
            used.append(attr(name))
    return choice.choice(used)


def given_value(choice: random.Random) -> Used:
    """Return the use of a parameter: its value, or one that it decides on."""
    values: list[Used] = [Param(WORD), Param(SECRET)]
    values.append(Chosen(choice.choice(SWITCHES), *choice.sample(VALUES, 2)))
    return choice.choice(values)


def is_made_up(template: Template, name: str) -> bool:
    """Tell whether a value comes from what the cloud made up; by that, no stack inside could be judged."""
    entry = template[name]
    if not (isinstance(entry, Thing) and isinstance(entry.value, Attribute)):
        return False
    return entry.value.name == "id" or is_made_up(template, entry.value.resource)


def some_things(before: Template, choice: random.Random) -> list[str]:
    return [name for name, entry in before.items() if isinstance(entry, Thing) and choice.random() < 0.3]


# -- what refers to what -----------------------------------------------------------------------------


def used_by(entry: Entry) -> Iterator[str]:
    """Yield the names of what an entry refers to."""
    match entry:
        case When(entry=inner):
            yield from used_by(inner)
        case Group():
            yield from used_by(entry.member)
        case Thing() | Nested():
            if isinstance(entry.value, Attribute | Joined):
                yield entry.value.resource
            yield from getattr(entry, "uses", ())
            yield from entry.depends_on


def unused(template: Template) -> list[str]:
    """Return the names of what nothing refers to."""
    used = {name for entry in template.values() for name in used_by(entry)}
    return [name for name in template if name not in used]


def ahead(template: Template, name: str) -> Template:
    """Return what does not depend on something, so that this may depend on it."""
    depending = {name}
    while True:
        more = {
            other
            for other, entry in template.items()
            if other not in depending and depending.intersection(used_by(entry))
        }
        if not more:
            return template.without(*depending)
        depending |= more


def at(template: Template, path: list[str]) -> Entry | None:
    """Return what is at a place, also in stacks inside; None: nothing, or it goes by a made-up name."""
    entry = template.get(path[0])
    for name in path[1:]:
        match entry:
            case Nested():
                entry = entry.template.get(name)
            case Group(scaled=True):
                entry = entry.member
            case Group():
                entry = entry.members().get(name)
            case _:
                return None
    return entry
