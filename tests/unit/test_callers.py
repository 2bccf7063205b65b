# SPDX-License-Identifier: Apache-2.0
"""A hook of plugins counts as called where something calls it, and not where it is only defined."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tools.callers import Calls

#: Modules of a package, by name.
SOURCES = {
    "engine.py": """
        def begin(plugin):
            plugin.start("CREATE")

        def signal(plugin):
            told = getattr(plugin, "handle_signal", None)
            if told is not None:
                told()

        def list_of(bus):
            return bus.preview()
    """,
    "contract.py": """
        class Resource:
            requires_deferred_auth = False

            def start(self, action):
                return getattr(self, f"handle_{action.lower()}")()

            def handle_create(self):
                return self.needs_this()

            def forgotten(self):
                return self.handle_preempt()

            def handle_preempt(self):
                return self.forgotten()
    """,
    "types.py": """
        from contract import Resource

        class Server(Resource):
            def handle_create(self):
                return self.has_nested()

            def prepare_for_replace(self):
                super().prepare_for_replace()
    """,
    "testing/double.py": """
        def reset(plugin):
            plugin.handle_metadata_reset()
    """,
}


@pytest.fixture
def calls(tmp_path):
    package = tmp_path / "package"
    for name, text in SOURCES.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return Calls.read(package)


@pytest.mark.parametrize(
    ("hook", "callers"),
    [
        ("start", ["package.engine.begin"]),
        ("handle_signal", ["package.engine.signal"]),
        ("handle_create", ["package.contract.Resource.start"]),
        ("handle_suspend", ["package.contract.Resource.start"]),
        ("needs_this", ["package.contract.Resource.handle_create"]),
    ],
)
def test_a_hook_is_called_by_who_is_reached_from_outside_the_contract(calls, hook, callers):
    assert calls.of(hook) == callers


@pytest.mark.parametrize(
    "hook",
    [
        pytest.param("requires_deferred_auth", id="declared"),
        pytest.param("handle_preempt", id="called by what nobody calls"),
        pytest.param("has_nested", id="called by a type of itself"),
        pytest.param("prepare_for_replace", id="passed on to its base"),
        pytest.param("preview", id="of something else"),
        pytest.param("handle_metadata_reset", id="by a double for tests"),
    ],
)
def test_what_is_defined_and_not_called_is_not_there(calls, hook):
    assert calls.of(hook) == []


def test_the_hooks_of_a_handover_are_called_by_workers():
    assert "heatconv.worker.handover.hand_over" in Calls.read().of("prepare_for_replace")
