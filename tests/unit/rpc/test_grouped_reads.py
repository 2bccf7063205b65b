# SPDX-License-Identifier: Apache-2.0
"""Who asks for a stack while others do is answered by their call, with what is for no one else."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from heatconv import errors
from heatconv.rpc.context import RequestContext
from heatconv.rpc.grouped_reads import ABREAST, GroupedReads

WAIT = 10  #: seconds in which something happens that is to happen
BUSY = "busy"  #: a stack whose readers are not answered before others have come
GONE = "gone"


class Engine:
    """Shows stacks by the projects that ask for them; notes what it is called."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.entered = threading.Semaphore(0)
        self.gate = threading.Event()
        self.knows_several = True

    def call(self, context: RequestContext, method: str, **arguments: Any) -> Any:
        """Answer a call."""
        self.calls.append((method, arguments))
        if method == "show_stacks":
            if not self.knows_several:
                raise errors.NotUnderstood(reason="show_stacks is not known")
            return [None if each["stack_id"] == GONE else self._show(**each) for each in arguments["wanted"]]
        if arguments["stack"] == BUSY:
            self.entered.release()
            assert self.gate.wait(WAIT)
        if arguments["stack"] == GONE:
            raise errors.NotFound(entity="Stack", name=GONE)
        return self._show(context.project_id, arguments["stack"], arguments.get("resolve_outputs", True))

    def _show(self, project_id: str, stack_id: str, resolve_outputs: bool) -> dict[str, Any]:
        return {"id": stack_id, "seen_by": project_id, "outputs": resolve_outputs}


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def client(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> GroupedReads:
    monkeypatch.setattr("heatconv.rpc.grouped_reads.PATIENCE", WAIT)
    return GroupedReads(engine)


def meanwhile(client: GroupedReads, engine: Engine, asked: list[tuple[str, str, bool]]) -> list[Future[Any]]:
    """Return what came of questions that were asked while as many calls were under way as may be."""
    with ThreadPoolExecutor(ABREAST + len(asked)) as pool:
        for _ in range(ABREAST):
            pool.submit(client.show_stack, RequestContext(project_id="p"), BUSY)
            assert engine.entered.acquire(timeout=WAIT)
        futures = []
        for number, (project_id, stack, resolve_outputs) in enumerate(asked, 1):
            context = RequestContext(project_id=project_id)
            futures.append(pool.submit(client.show_stack, context, stack, resolve_outputs=resolve_outputs))
            while len(client._together._waiting) < number:
                threading.Event().wait(0.001)
        engine.gate.set()
    return futures


def test_who_asks_alone_is_answered_by_a_call_of_its_own(client: GroupedReads, engine: Engine) -> None:
    shown = client.show_stack(RequestContext(project_id="p"), "s", resolve_outputs=False)

    assert shown == {"id": "s", "seen_by": "p", "outputs": False}
    assert engine.calls == [("show_stack", {"stack": "s", "resolve_outputs": False})]


def test_who_asks_meanwhile_is_answered_together(client: GroupedReads, engine: Engine) -> None:
    answers = meanwhile(client, engine, [("p", "s", True), ("q", "s", True), ("q", "t", False)])

    assert [each.result() for each in answers] == [
        {"id": "s", "seen_by": "p", "outputs": True},
        {"id": "s", "seen_by": "q", "outputs": True},
        {"id": "t", "seen_by": "q", "outputs": False},
    ]
    assert [method for method, _ in engine.calls] == ["show_stack"] * ABREAST + ["show_stacks"]


def test_what_is_not_answered_together_is_asked_for_alone(client: GroupedReads, engine: Engine) -> None:
    here, gone = meanwhile(client, engine, [("p", "s", True), ("p", GONE, True)])

    assert here.result()["id"] == "s"
    with pytest.raises(errors.NotFound):
        gone.result()


def test_engines_of_the_release_before_are_asked_one_by_one(client: GroupedReads, engine: Engine) -> None:
    engine.knows_several = False
    answers = meanwhile(client, engine, [("p", "s", True), ("q", "t", True)])

    assert [each.result()["seen_by"] for each in answers] == ["p", "q"]
