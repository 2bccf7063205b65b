# SPDX-License-Identifier: Apache-2.0
"""Plans, made and applied by REST, and what came of them in the fake cloud."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.functional.nested.conftest import Tree, hot
from tests.functional.plans.simulated import World
from tests.plan_judge import judged

Json = dict[str, Any]


class Planned(Tree):
    """A stack of whose changes plans are made."""

    def __init__(self, endpoint: str, cloud_url: str) -> None:
        super().__init__(endpoint, cloud_url)
        self.base = endpoint

    def close(self) -> None:
        """Delete the stack, whatever guards it."""
        if self.state() is not None and self.client.get_environment(self.name).get("guards"):
            there = {
                "template": self.client.get_template(self.name),
                "files": self.client.get_files(self.name),
            }
            self.client.update_stack(self.name, there)
            self.await_state("UPDATE_COMPLETE")
        super().close()

    def ask(self, method: str, path: str, body: Json | None = None) -> requests.Response:
        """Ask for something below the project."""
        return requests.request(method, f"{self.base}{path}", json=body, timeout=60)

    @property
    def place(self) -> str:
        return f"/stacks/{self.name}/{self.client.show_stack(self.name)['id']}"

    def plan(self, resources: Json, **body: Any) -> Json:
        answer = self.ask("POST", f"{self.place}/plans", {"template": hot(resources), **body})
        assert answer.status_code == 201, answer.text
        return judged(answer.json()["plan"])

    def plan_of(self, action: str) -> Json:
        answer = self.ask("POST", f"{self.place}/plans", {"action": action})
        assert answer.status_code == 201, answer.text
        return judged(answer.json()["plan"])

    def apply(self, plan: Json) -> requests.Response:
        return self.ask("POST", f"/plans/{plan['id']}/apply")

    def carry_out(self, plan: Json, state: str = "UPDATE_COMPLETE") -> list[str]:
        """Apply a plan; return what the cloud was asked to change."""
        self.calls()
        answer = self.apply(plan)
        assert answer.status_code == 202, answer.text
        self.await_state(state)
        return self.calls()


@pytest.fixture
def new_world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[], World]]:
    """Make worlds, each in place of the one before."""
    monkeypatch.setenv("HEATCONV_FAKE_CLOUD", "memory:")
    with ExitStack() as until:
        numbers = itertools.count()

        def make() -> World:
            until.close()
            made = World(f"sqlite:///{tmp_path}/planned-{next(numbers)}.db")
            until.callback(made.close)
            return made

        yield make


@pytest.fixture
def world(new_world: Callable[[], World]) -> World:
    return new_world()


@pytest.fixture
def planned(endpoint: str, cloud_url: str) -> Iterator[Planned]:
    made = Planned(endpoint, cloud_url)
    yield made
    made.close()


def said(plan: Json) -> dict[str, str]:
    """Return what a plan says of each resource, by its path."""
    return {
        "/".join(each["path"]): each["action"] + ("?" if each["certainty"] == "possible" else "")
        for each in plan["resources"]
    }
