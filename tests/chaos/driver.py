# SPDX-License-Identifier: Apache-2.0
"""Users who keep changing their minds: a thread each, over HTTP, each with some stacks of its own.

A user who gets no answer, or one that says "not now", asks again, and goes on
to the next wish when the service has taken this one.  So it is known what each
stack is to be in the end.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from heatconv.client.http import Client, ClientError
from heatconv.model.drift import Mode
from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import SERVER, STEPS, Entry, Template, Thing, Used, attr, thing
from heatconv.testing.trees import GIVEN, INDEX, Group, group, joined, nested, policy, scaled, source

NAMES = "ABCDEFGH"
GROUP, POLICY = "S", "T"  #: the group that signals scale, and what they are sent to
DOOMED = "X"  #: the resource that the cloud never makes
NOT_NOW = frozenset({0, 429, 500, 502, 503, 504})
NOT_THERE = frozenset({400, 404, 409})  #: the answers to a signal to something that is not made yet
PAUSE = 0.3  #: seconds until a user asks again
#: The policies on drift in the second half of the stacks; in the first nothing ever drifts.
POLICIES = (Mode.HEAL, Mode.DETECT, Mode.HEAL, Mode.OFF)
CALM = 0.1  #: how often a user has a wish for a stack that may drift, compared with the others

#: The rules by which the cloud lets doomed resources fail.
DOOM = FailureRule(op="create", owner=f"*/{DOOMED}", status=400, times=None)


@dataclass
class Stack:
    """What one stack is to be: one of some templates, or nothing (None is one of them).

    Several come into question after a rollback, which leads to the last that
    was complete: whichever that was, the stack's own template tells.
    """

    name: str
    choice: random.Random
    policy: Mode | None = None  #: of one whose objects drift
    may_be: list[Template | None] = field(default_factory=lambda: [None])
    asked: list[Template] = field(default_factory=list)  #: all that could become so

    @property
    def is_wanted(self) -> bool:
        return self.may_be != [None]


class Driver:
    """The users; ``start`` lets them begin, ``stop`` makes them content with what they asked for last."""

    def __init__(self, endpoint: str, start: int, *, users: int, stacks: int) -> None:
        self.stacks = [
            Stack(
                f"s{number:02}",
                random.Random(f"{start} stack {number}"),
                POLICIES[number % len(POLICIES)] if number >= stacks // 2 else None,
            )
            for number in range(stacks)
        ]
        self.taken: Counter[str] = Counter()  #: wishes the service took, by kind
        self.put_off: Counter[str] = Counter()  #: answers that say "not now", by status and first words
        self.problems: list[str] = []
        self._endpoint = endpoint
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(
                target=self._wish, args=(self.stacks[user::users], random.Random(f"{start} user {user}"))
            )
            for user in range(users)
        ]

    @property
    def policies(self) -> dict[str, Mode]:
        """The policy on drift, by the name of each stack whose objects drift."""
        return {stack.name: stack.policy for stack in self.stacks if stack.policy is not None}

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    # -- one user ------------------------------------------------------------------------------

    def _wish(self, stacks: list[Stack], choice: random.Random) -> None:
        client = Client(self._endpoint)
        weights = [1.0 if stack.policy is None else CALM for stack in stacks]
        try:
            while not self._stopping.wait(choice.uniform(0.0, 0.8)):
                self._change(client, choice.choices(stacks, weights)[0])
        except Exception as error:  # noqa: BLE001 - reported in the end
            self.problems.append(f"a user got stuck: {error!r}")
        finally:
            client.close()

    def _change(self, client: Client, stack: Stack) -> None:
        """Have another wish for a stack, and keep at it until it is taken."""
        kind = "create" if not stack.is_wanted else stack.choice.choices([*WISHES], [*WISHES.values()])[0]
        template = random_template(stack.choice)
        if kind == "doomed update":
            first = [name for name, entry in template.items() if isinstance(entry, Thing)][:1]
            template = template.but(**{DOOMED: thing("x", uses=first)})
        body = {**source(template), "disable_rollback": kind != "doomed update"}
        if stack.policy is not None:
            body["convergence"] = {"policy": stack.policy}
        while True:
            try:
                self._ask(client, stack, kind, body)
            except ClientError as error:
                if error.status not in NOT_NOW:
                    raise
                self.put_off[f"{error.status} {_gist(error)}"] += 1
                time.sleep(PAUSE)
            else:
                break
        self.taken[kind] += 1
        _note(stack, kind, template)

    def _ask(self, client: Client, stack: Stack, kind: str, body: dict[str, object]) -> None:
        match kind:
            case "create":
                self._create(client, stack.name, body)
            case "update" | "doomed update":
                client.update_stack(stack.name, body)
            case "signal":
                self._signal(client, stack.name)
            case "rollback":
                client.act(stack.name, "rollback")
            case "converge":
                client.converge(stack.name)
            case "delete":
                self._delete(client, stack.name)

    def _create(self, client: Client, name: str, body: dict[str, object]) -> None:
        """Create a stack, or update one that is being deleted still or that an unanswered request made."""
        try:
            client.create_stack({"stack_name": name, **body})
        except ClientError as error:
            if error.status != 409:
                raise
            try:
                client.update_stack(name, body)
            except ClientError as later:
                # Gone meanwhile: next time it can be created.
                raise ClientError(503, later.kind, str(later)) if later.status == 404 else later from later

    def _signal(self, client: Client, name: str) -> None:
        try:
            client.signal_resource(name, POLICY, {})
        except ClientError as error:
            if error.status not in NOT_THERE:
                raise

    def _delete(self, client: Client, name: str) -> None:
        try:
            client.delete_stack(name)
        except ClientError as error:
            if error.status != 404:
                raise


#: The wishes that a user may have of a stack that is there, and how often.
WISHES = {"update": 6, "signal": 3, "doomed update": 2, "rollback": 2, "delete": 2, "converge": 1}


def _gist(error: ClientError) -> str:
    """Return the first words of an error, without what differs from one to the next."""
    return re.sub(r"\S*[/\d]\S*", "...", str(error))[:70]


def _note(stack: Stack, kind: str, template: Template) -> None:
    """Note what a stack is to be now that a wish was taken."""
    match kind:
        case "create" | "update":
            stack.asked.append(template)
            stack.may_be = [template]
        case "rollback" | "doomed update":
            # A stack that never was complete goes back to having nothing in it.
            stack.may_be = [*stack.asked, Template()]
        case "delete":
            stack.may_be = [None]
        case "signal" | "converge":
            pass  # how many members there are to be is asked in the end


def random_template(choice: random.Random) -> Template:
    """Return some of the names, in any order, each using some of those before it.

    Some are stacks or groups; some templates have one more group, which signals scale.
    """
    names = choice.sample(NAMES, choice.randint(1, len(NAMES)))
    entries: dict[str, Entry] = {}
    for name in names:
        values: list[str | Used] = ["1", "2", "3"]
        values += [_use_of(other, entry) for other, entry in entries.items()]
        match choice.choices(["thing", "nested", "group"], [6, 2, 1])[0]:
            case "nested":
                inside = Template(**_things(choice, "PQ"[: choice.randint(1, 2)], GIVEN))
                entries[name] = nested(inside, choice.choice(values), file=f"{name}.yaml")
            case "group":
                member = thing(choice.choice("123") + INDEX, wait=choice.choice([0.0, 0.5]))
                entries[name] = group(choice.randint(0, 3), member)
            case _:
                entries |= _things(choice, name, *values, before=entries)
    if choice.random() < 0.4:
        entries[GROUP] = scaled(choice.randint(1, 3), thing(choice.choice("12"), wait=0.5))
        entries[POLICY] = policy(GROUP, choice.randint(1, 4), "exact_capacity")
    return Template(**entries)


def _things(
    choice: random.Random, names: str, *values: str | Used, before: Mapping[str, Entry] | None = None
) -> dict[str, Entry]:
    used = [name for name, entry in (before or {}).items() if isinstance(entry, Thing)]
    return {
        name: thing(
            choice.choice(values),
            flavor=choice.choice(["small", "small", "large"]),
            uses=[other for other in used if choice.random() < 0.4],
            wait=choice.choice([0.0, 0.5, 1.0, 3.0]),
            type=STEPS if name == "E" else SERVER,
        )
        for name in names
    }


def _use_of(name: str, entry: Entry) -> Used:
    """Return the use of an entry's attribute."""
    return joined(name) if isinstance(entry, Group) else attr(name)


def wanted(client: Client, stacks: Sequence[Stack]) -> tuple[dict[str, Template], list[str]]:
    """Return what each stack is to be, and what is wrong with that.

    Where several templates come into question it is the one that the stack itself tells of.
    """
    to_be: dict[str, Template] = {}
    problems = []
    for stack in stacks:
        template = stack.may_be[0]
        if len(stack.may_be) > 1:
            current = client.get_template(stack.name).get("resources") or {}, client.get_files(stack.name)
            possible = [each for each in stack.may_be if each is not None and _posted(each) == current]
            if not possible:
                problems.append(f"{stack.name}: nobody asked for the template it goes by: {current}")
                continue
            template = possible[0]
        if template is not None:
            to_be[stack.name] = _as_scaled(client, stack.name, template)
    return to_be, problems


def _posted(template: Template) -> tuple[object, object]:
    posted = source(template)
    return posted["template"]["resources"], posted["files"]


def _as_scaled(client: Client, name: str, template: Template) -> Template:
    """Return a template with as many members in its group as the group says that there are to be.

    Whether a signal came before an update or after it nobody can tell.
    """
    asked = template.get(GROUP)
    if not isinstance(asked, Group):
        return template
    return template.but(**{GROUP: replace(asked, count=len(client.show_metadata(name, GROUP)["members"]))})
