# SPDX-License-Identifier: Apache-2.0
"""One word for one thing: the glossary has the words of the code, and the code none that are banned."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
GLOSSARY = (TOP / "doc" / "source" / "reference" / "glossary.rst").read_text()

#: Words that once meant several things each, and what to say instead.
BANNED = {
    "told": "the input, the output, the reason, the answer: what it is",
    "aside": "deferred, an engine call",
    "room": "a tree quota, a project quota, spare capacity",
    "veil": "redaction",
    "wishes": "pending signals",
}
ALLOWED = {"_waiting_room"}  #: the glossary's waiting room

#: Where a newcomer reads first.
CORE = ("db", "engine", "graph", "rpc", "sinks", "worker")

#: Modules and classes that are named for a term of the glossary.
NAMED_FOR = {
    "worker/fair_queue.py": "fair queue",
    "worker/engine_calls.py": "engine call",
    "worker/waiting.py": "waiting room",
    "worker/handover.py": "handover",
    "engine/redaction.py": "redaction",
    "engine/recovery.py": "recovery tick",
    "db/convergence/claims.py": "claim",
    "db/convergence/checks.py": "check",
    "db/convergence/sync_points.py": "sync point",
    "db/convergence/traversals.py": "traversal",
    "db/convergence/tree_quota.py": "tree quota",
    "db/convergence/project_quota.py": "project quota",
    "db/convergence/pending_signals.py": "pending signal",
    "db/observation/schedule.py": "observation schedule",
    "db/plumbing/group_commit.py": "group commit",
}


def names_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        for kind, field in (
            (ast.Name, "id"),
            (ast.arg, "arg"),
            (ast.Attribute, "attr"),
            (ast.FunctionDef, "name"),
            (ast.ClassDef, "name"),
        ):
            if isinstance(node, kind):
                yield getattr(node, field)


@pytest.mark.parametrize("package", CORE)
def test_no_name_is_made_of_a_banned_word(package):
    found = {
        f"{path.relative_to(TOP)}: {name}: say {BANNED[word]}"
        for path in (TOP / "heatconv" / package).rglob("*.py")
        if path.parent.name != "versions"  # a migration keeps the name that it was made by
        for name in [path.stem, *names_in(ast.parse(path.read_text()))]
        if name not in ALLOWED
        for word in re.split("_+", name.lower())
        if word in BANNED
    }
    assert not found


@pytest.mark.parametrize(("module", "term"), NAMED_FOR.items())
def test_a_module_that_is_named_for_a_term_is_there_and_the_term_in_the_glossary(module, term):
    assert (TOP / "heatconv" / module).is_file()
    assert f"\n   {term}\n" in GLOSSARY
