# SPDX-License-Identifier: Apache-2.0
"""Random edits of random templates: what users do to them from one version to the next."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from heatconv.testing.templates import (
    OFF,
    ON,
    Chosen,
    Entry,
    Param,
    Template,
    Thing,
    When,
)
from heatconv.testing.trees import INDEX, Chain, Group, Nested, Pace, source
from tests.functional.plans.pieces import (
    NAMES,
    PARAMETERS,
    RETAIN,
    SECRET,
    SECRETS,
    SNAPSHOT,
    SWITCHES,
    TYPES,
    VALUES,
    WORD,
    ahead,
    file,
    given_value,
    new,
    policies,
    some_things,
    unused,
    value,
)

MEMBERS = 4  #: at most, of a group

Edit = Callable[[Template, random.Random], Template]


def fresh(choice: random.Random) -> Template:
    """Return a template of some things, stacks and groups, each of which may use those before it."""
    template = Template().given(PARAMETERS)
    for _ in range(choice.randint(3, 7)):
        template = added(template, choice)
    return template


class Edits:
    """Deals kinds of edits like cards: each comes as often as it weighs before any comes again."""

    def __init__(self, choice: random.Random) -> None:
        self.made: Counter[str] = Counter()  #: how many there were, by kind
        self._choice = choice
        self._deck: list[Edit] = []

    def edited(self, template: Template) -> Template:
        """Return a template with one to three edits."""
        for _ in range(self._choice.randint(1, 3)):
            template = self._once(template)
        return template

    def _once(self, template: Template) -> Template:
        """Make the first edit of the deck that changes anything of a template."""
        if not self._deck:
            self._deck = [kind for kind, weight in EDITS.items() for _ in range(weight)]
            self._choice.shuffle(self._deck)
        before = source(template)
        for kind in [*self._deck, added, revalued]:
            after = kind(template, self._choice)
            if len(after) and source(after) != before:
                if kind in self._deck:
                    self._deck.remove(kind)
                self.made[kind.__name__] += 1
                return after
        return template


# -- what there is -------------------------------------------------------------------------------------


def added(template: Template, choice: random.Random) -> Template:
    """Add something under a name that is free."""
    free = [name for name in NAMES if name not in template]
    return template.but(**{choice.choice(free): new(template, choice)}) if free else template


def removed(template: Template, choice: random.Random) -> Template:
    """Remove something that nothing refers to."""
    return template.without(*choice.sample(unused(template), min(1, len(unused(template)))))


def renamed(template: Template, choice: random.Random) -> Template:
    """Give something that nothing refers to another name."""
    names, free = unused(template), [each for each in NAMES if each not in template]
    if not names or not free:
        return template
    name = choice.choice(names)
    return template.without(name).but(**{choice.choice(free): template[name]})


def conditioned(template: Template, choice: random.Random) -> Template:
    """Let it hang on a parameter whether something is there that nothing refers to, or no more."""
    names = unused(template)
    if not names:
        return template
    name = choice.choice(names)
    entry = template[name]
    other = entry.entry if isinstance(entry, When) else When(choice.choice(SWITCHES), entry)
    return template.but(**{name: other})


# -- what it is ----------------------------------------------------------------------------------------


def revalued(template: Template, choice: random.Random) -> Template:
    """Give something, here or inside, another value."""
    return _changed(template, choice, lambda entry: replace(entry, value=_literal(entry, choice)))


def resized(template: Template, choice: random.Random) -> Template:
    """Let something take a replacement, here or inside."""

    def other(entry: Any) -> Any:
        if isinstance(entry, Nested):
            return replace(entry, template=resized(entry.template, choice))
        return replace(entry, flavor="large" if entry.flavor == "small" else "small")

    return _changed(template, choice, other)


def retyped(template: Template, choice: random.Random) -> Template:
    """Let something be of another type; of a stack it is another file."""

    def other(entry: Any) -> Any:
        if isinstance(entry, Nested):
            return replace(entry, file=file(choice))
        policy = None if entry.policy == SNAPSHOT else entry.policy  # which only a server can leave
        other = choice.choice([each for each in TYPES if each != entry.type])
        return replace(entry, type=other, policy=policy)

    return _changed(template, choice, other)


def rewired(template: Template, choice: random.Random) -> Template:
    """Let something refer to others than before."""
    names = [name for name, entry in template.items() if isinstance(entry, Thing | Nested)]
    if not names:
        return template
    name = choice.choice(names)
    before = ahead(template, name)
    entry = template[name]
    assert isinstance(entry, Thing | Nested)
    # What stays when it is not wanted any more would keep what it uses from going.
    if isinstance(entry, Thing) and entry.policy != RETAIN:
        entry = replace(entry, uses=tuple(some_things(before, choice)))
    is_used = name not in unused(template)
    other = value(before, choice, ids=isinstance(entry, Thing) and not is_used)
    return template.but(**{name: replace(entry, value=other)})


def kept(template: Template, choice: random.Random) -> Template:
    """Let something, here or inside, stay when it is not wanted any more, leave a snapshot, or go."""

    def other(entry: Any) -> Any:
        if isinstance(entry, Nested) and choice.random() < 0.5:
            return replace(entry, template=kept(entry.template, choice))
        others = [each for each in policies(entry) if each != entry.policy]
        return replace(entry, policy=choice.choice(others))

    alone = {name: entry for name, entry in template.items() if not isinstance(_inner(entry), Group)}
    return template.but(**_changed(Template(**alone), choice, other))


# -- groups --------------------------------------------------------------------------------------------


def counted(template: Template, choice: random.Random) -> Template:
    """Let a group have more or fewer members."""
    return _regrouped(template, choice, lambda entry: replace(entry, count=choice.randint(0, MEMBERS)))


def paced(template: Template, choice: random.Random) -> Template:
    """Let the members of a group be changed one after another, with some in service, or all at once."""
    paces = [None, Pace(1, 0), Pace(1, 2), Pace(2, 1)]

    def other(entry: Group) -> Group:
        return entry if isinstance(entry, Chain) else replace(entry, pace=choice.choice(paces))

    return _regrouped(template, choice, other)


# -- parameters ----------------------------------------------------------------------------------------


def given(template: Template, choice: random.Random) -> Template:
    """Give a parameter that something takes another value."""
    names = sorted({name for entry in template.values() for name in _taken_by(entry)})
    if not names:
        return template
    name = choice.choice(names)
    values = {WORD: VALUES, SECRET: SECRETS}.get(name, (ON, OFF))
    now = template.parameters[name]
    other = choice.choice([each for each in values if each != now.value])
    return template.given({name: replace(now, value=other)})


def bound(template: Template, choice: random.Random) -> Template:
    """Let a value, or what only a replacement changes, come from a parameter or hang on one."""

    def other(entry: Any) -> Any:
        if isinstance(entry, Thing) and choice.random() < 0.3:
            return replace(entry, flavor=Chosen(choice.choice(SWITCHES), "small", "large"))
        return replace(entry, value=given_value(choice))

    return _changed(template, choice, other)


#: The kinds of edits, and how often each comes in one deck.
EDITS: dict[Edit, int] = {
    added: 2,
    removed: 2,
    renamed: 1,
    conditioned: 2,
    revalued: 3,
    resized: 3,
    retyped: 1,
    rewired: 2,
    kept: 2,
    counted: 3,
    paced: 1,
    given: 4,
    bound: 2,
}


def _inner(entry: Entry) -> Entry:
    return entry.entry if isinstance(entry, When) else entry


def _changed(template: Template, choice: random.Random, change: Callable[[Any], Any]) -> Template:
    """Change a thing, a stack or a group's member, be it there or not."""
    if not template:
        return template

    def changed(entry: Entry) -> Any:
        match entry:
            case When():
                return replace(entry, entry=changed(entry.entry))
            case Group():
                return replace(entry, member=change(entry.member))
            case _:
                return change(entry)

    name = choice.choice([*template])
    return template.but(**{name: changed(template[name])})


def _regrouped(template: Template, choice: random.Random, change: Callable[[Group], Group]) -> Template:
    """Change a group that is there in any case."""
    groups = {name: entry for name, entry in template.items() if isinstance(entry, Group)}
    if not groups:
        return template
    name = choice.choice([*groups])
    return template.but(**{name: change(groups[name])})


def _literal(entry: Thing | Nested, choice: random.Random) -> str:
    numbered = isinstance(entry.value, str) and INDEX in entry.value
    return choice.choice(VALUES) + (INDEX if numbered else "")


def _taken_by(entry: Any) -> set[str]:
    """Return the names of the parameters that an entry takes."""
    match entry:
        case When():
            return {entry.parameter} | _taken_by(entry.entry)
        case Group():
            return _taken_by(entry.member)
        case Thing():
            return _taken_by(entry.value) | _taken_by(entry.flavor)
        case Nested():
            return _taken_by(entry.value)
        case Param():
            return {entry.name}
        case Chosen():
            return {entry.parameter}
        case _:
            return set()
