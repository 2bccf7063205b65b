# SPDX-License-Identifier: Apache-2.0
"""Clients that ask an API for all kinds of things at a steady rate, and know what has to come of it.

Each client has stacks, software configs and deployments of its own, and one
request under way at a time, so that it knows by name what it has asked for: what
was answered with success has happened once, what was refused never, and what
was answered with 5xx, if at all, once.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import requests

from heatconv.testing.templates import SERVER

Json = dict[str, Any]

WORKS = (200, 201, 202, 204)
TIMEOUT = 120  #: seconds after which a client gives up: far more than any answer may take


class Answer(NamedTuple):
    """The answer to a request of some kind: its status, and after how many seconds it came."""

    kind: str
    status: int
    seconds: float
    at: float


class Pace:
    """Lets requests begin at a steady rate; those that nobody was there to begin are not made up for."""

    def __init__(self, rate: float) -> None:
        self._step = 1 / rate
        self._lock = threading.Lock()
        self._next = time.monotonic()
        self.over = threading.Event()

    def turn(self) -> None:
        """Wait for one's turn."""
        with self._lock:
            at = max(self._next, time.monotonic())
            self._next = at + self._step
        time.sleep(max(0.0, at - time.monotonic()))


class Book:
    """The requests made and the answers to them; safe between threads."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.problems: list[str] = []
        #: How often each thing was done, by the thing it was done to: (surely, perhaps).
        self.done: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])

    def wrong(self, what: str) -> None:
        self.problems.append(what)


class Client(threading.Thread):
    """One of the clients: goes on until the pace says that it is over, and ends everything that it began."""

    def __init__(self, endpoint: str, name: str, pace: Pace, book: Book, seed: str) -> None:
        super().__init__(name=name)
        self._endpoint, self._pace, self._book = endpoint, pace, book
        self._choice = random.Random(f"{seed} {name}")
        self._session = requests.Session()
        self._session.trust_env = False
        self._number = 0

    def run(self) -> None:
        try:
            while not self._pace.over.is_set():
                self._number += 1
                (self._live_with_a_stack if self._choice.random() < 0.75 else self._deploy_software)()
        except Exception as error:  # noqa: BLE001 - reported in the end
            self._book.wrong(f"{self.name} got stuck: {error!r}")
        finally:
            self._session.close()

    # -- asking --------------------------------------------------------------------------------

    def _ask(
        self,
        kind: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        does: tuple[str, str] | None = None,
        refused: int | None = None,
    ) -> Any:
        """Ask once; return the answer's JSON, or None if it was 5xx.

        ``does``: what success does, and to what; ``refused``: the only status that is right.
        """
        self._pace.turn()
        begun = time.monotonic()
        try:
            answer = self._session.request(
                method, f"{self._endpoint}{path}", json=body, timeout=TIMEOUT, allow_redirects=False
            )
            status, text = answer.status_code, answer.text
        except requests.RequestException as problem:
            status, text = 599, repr(problem)
        self._book.answers.append(Answer(kind, status, time.monotonic() - begun, time.time()))
        if status >= 500:
            if does is not None:
                self._book.done[does][1] += 1
            return None
        if status not in (WORKS if refused is None else (refused,)):
            self._book.wrong(f"{self.name}: {method} {path} ({kind}): {status} {text[:300]}")
            raise AssertionError(text[:200])
        if does is not None and refused is None:
            self._book.done[does][0] += 1
        return answer.json() if text else {}

    def _until(self, kind: str, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """Ask what changes nothing until it is answered."""
        while (answer := self._ask(kind, method, path, body, **more)) is None:
            pass
        return answer

    # -- stacks ----------------------------------------------------------------------------------

    def _live_with_a_stack(self) -> None:
        name = f"{self.name}-{self._number}"
        wanted = _Wanted(name)
        body = {"stack_name": name, "template": wanted.template(), "disable_rollback": True}
        made = self._ask("create", "POST", "/stacks", body, does=("CREATE", name))
        if made is None:
            made = self._find(name)
            if made is None:
                return
        else:
            made = made["stack"]
        where = f"/stacks/{name}/{made['id']}"
        self._rest(where, name)
        acts = [act for act in _ACTS if self._choice.random() < 0.35]
        self._choice.shuffle(acts)
        for act in acts:
            act(self, where, wanted)
        self._check(where, wanted)
        gone = None
        while gone is None:
            gone = self._ask("delete", "DELETE", where, does=("DELETE", name))
            if gone is None and self._rest(where, name).startswith("DELETE"):
                break
        self._rest(where, name)
        if self._choice.random() < 0.3:
            self._until("refused", "DELETE", f"/stacks/{name}/{made['id']}", refused=404)

    def _find(self, name: str) -> Any:
        found = self._until("list", "GET", f"/stacks?name={name}")["stacks"]
        return found[0] if found else None

    def _rest(self, where: str, name: str) -> str:
        """Wait until nothing is under way; return the status."""
        while True:
            shown = self._until("show", "GET", where)["stack"]
            status = str(shown["stack_status"])
            if not status.endswith("IN_PROGRESS"):
                if status.endswith("FAILED"):
                    self._book.wrong(f"{name} is {status}: {shown['stack_status_reason']}")
                return status
            self._pace.over.wait(0.3)

    def _update(self, where: str, wanted: _Wanted) -> None:
        before, value = wanted.value, f"v{self._choice.randrange(10**9)}"
        wanted.value = value
        said = self._ask(
            "update", "PUT", where, {"template": wanted.template()}, does=("UPDATE", wanted.name)
        )
        self._rest(where, wanted.name)
        if said is None:
            shown = self._until("show", "GET", where)["stack"]["outputs"][0]["output_value"]
            if shown not in (before, value):
                self._book.wrong(f"{wanted.name} has {shown}, neither {before} nor {value}")
            wanted.value = shown

    def _act(self, where: str, wanted: _Wanted, action: str) -> bool:
        said = self._ask(
            "action", "POST", f"{where}/actions", {action: None}, does=(action.upper(), wanted.name)
        )
        status = self._rest(where, wanted.name)
        return said is not None or status.startswith(action.upper())

    def _suspend(self, where: str, wanted: _Wanted) -> None:
        if self._act(where, wanted, "suspend"):
            while not self._act(where, wanted, "resume"):
                pass

    def _examine(self, where: str, wanted: _Wanted) -> None:
        self._act(where, wanted, "check")

    def _signal(self, where: str, wanted: _Wanted) -> None:
        for _ in range(self._choice.randint(1, 3)):
            said = self._ask("signal", "POST", f"{where}/resources/H/signal", {"data": "x"})
            wanted.signals[0 if said is not None else 1] += 1

    def _snapshot(self, where: str, wanted: _Wanted) -> None:
        name = f"{wanted.name}-{len(wanted.snapshots)}"
        said = self._ask(
            "snapshot", "POST", f"{where}/snapshots", {"name": name}, does=("SNAPSHOT", wanted.name)
        )
        wanted.snapshots[name] = [1, 0] if said is not None else [0, 1]
        self._rest(where, wanted.name)
        if said is not None and self._choice.random() < 0.5:
            if self._ask("snapshot", "DELETE", f"{where}/snapshots/{said['id']}") is None:
                wanted.snapshots[name] = [0, 1]
            else:
                wanted.snapshots[name] = [0, 0]

    def _look(self, where: str, wanted: _Wanted) -> None:
        for path in ("/resources", "/events", "/template", "/outputs"):
            self._ask("list", "GET", where + path)
        self._ask("list", "GET", "/stacks?limit=20")

    def _preview(self, where: str, wanted: _Wanted) -> None:
        other = _Wanted(wanted.name)
        other.value = "other"
        self._ask("preview", "PUT", f"{where}/preview", {"template": other.template()})
        body = {"stack_name": f"{wanted.name}-p", "template": wanted.template()}
        self._ask("preview", "POST", "/stacks/preview", body)

    def _refused(self, where: str, wanted: _Wanted) -> None:
        body = {"stack_name": wanted.name, "template": wanted.template()}
        self._ask("refused", "POST", "/stacks", body, refused=409)
        self._ask("refused", "PUT", where, {"template": {"heat_template_version": "no"}}, refused=400)

    def _check(self, where: str, wanted: _Wanted) -> None:
        """Compare the stack with what was asked for."""
        outputs = self._until("show", "GET", where)["stack"]["outputs"]
        if outputs[0]["output_value"] != wanted.value:
            self._book.wrong(f"{wanted.name} has {outputs[0]['output_value']} instead of {wanted.value}")
        kept = self._until("show", "GET", f"{where}/resources/H/metadata")["metadata"]
        _compare(self._book, f"signals to {wanted.name}", len(kept), wanted.signals)
        listed = self._until("list", "GET", f"{where}/snapshots")["snapshots"]
        names = Counter(each["name"] for each in listed)
        for name, times in wanted.snapshots.items():
            _compare(self._book, f"snapshots {name}", names[name], times)

    # -- software ------------------------------------------------------------------------------

    def _deploy_software(self) -> None:
        name = f"{self.name}-{self._number}"
        body = {"name": name, "group": "script", "config": "echo"}
        made = self._ask("software", "POST", "/software_configs", body, does=("config", name))
        if made is None:
            return
        config = made["software_config"]["id"]
        self._until("software", "GET", f"/software_configs/{config}")
        body = {"config_id": config, "server_id": name, "action": "CREATE", "status": "IN_PROGRESS"}
        made = self._ask("software", "POST", "/software_deployments", body, does=("deployment", name))
        if made is None:
            return
        deployment = made["software_deployment"]["id"]
        for number in range(self._choice.randint(1, 3)):
            where = f"/software_deployments/{deployment}"
            values = {"output_values": {"n": number}, "status": "COMPLETE"}
            if self._ask("software", "PUT", where, values) is not None:
                shown = self._until("software", "GET", where)["software_deployment"]
                if shown["output_values"] != {"n": number}:
                    self._book.wrong(f"deployment {name} has {shown['output_values']}, not {number}")
        self._until("software", "GET", f"/software_deployments/metadata/{name}")
        if self._choice.random() < 0.5:
            gone = self._ask("software", "DELETE", where)
            self._book.done["deployment", name] = [0, 0 if gone is not None else 1]
            self._until("list", "GET", f"/software_deployments?server_id={name}")


_ACTS = (
    Client._update,
    Client._update,
    Client._suspend,
    Client._examine,
    Client._signal,
    Client._signal,
    Client._snapshot,
    Client._look,
    Client._look,
    Client._preview,
    Client._refused,
)


class _Wanted:
    """What a client wants of a stack."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.value = "first"
        self.signals = [0, 0]
        self.snapshots: dict[str, list[int]] = {}

    def template(self) -> Json:
        return {
            "heat_template_version": "2021-04-16",
            "resources": {
                "A": {"type": SERVER, "properties": {"value": self.value, "flavor": "small"}},
                "H": {"type": "OS::Heat::WaitConditionHandle"},
            },
            "outputs": {"value": {"value": {"get_attr": ["A", "value"]}}},
        }


def _compare(book: Book, what: str, count: int, times: list[int]) -> None:
    surely, perhaps = times
    if not surely <= count <= surely + perhaps:
        book.wrong(f"{what}: {count}, not {surely}" + (f" to {surely + perhaps}" if perhaps else ""))


def compare(book: Book, counted: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """Return the requests that were not carried out as often as they were made."""
    for key in sorted({*book.done, *counted}):
        surely, perhaps = book.done.get(key, (0, 0))
        count = counted.get(key, 0)
        if not surely <= count <= surely + perhaps:
            yield f"{key[0]} of {key[1]}: done {count} times, answered {surely} times (5xx: {perhaps})"
