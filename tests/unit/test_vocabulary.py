# SPDX-License-Identifier: Apache-2.0
"""One word for one thing: the glossary has the words of the code, and the code none that are banned."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
GLOSSARY = (TOP / "doc" / "source" / "reference" / "glossary.rst").read_text()

#: Words that once meant several things each, and what to say instead: in the core.
BANNED = {
    "aside": "deferred, an engine call",
    "room": "a tree quota, a project quota, spare capacity",
    "veil": "redaction",
    "wishes": "pending signals",
}
ALLOWED = {"_waiting_room"}  #: the glossary's waiting room

#: The same, anywhere.  The name of a test is a sentence, which may say who tells whom.
BANNED_ANYWHERE = {
    "told": "the input, the output, the reason, the answer, the description: what it is",
    "untold": "what is missing",
    "tell": "record, export, wake, publish, write: what is done",
    "tells": "has, names, shows: what it does",
}

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


#: What has a name in the syntax tree, and the field that has it.
NAMED: tuple[tuple[type[ast.AST], str], ...] = (
    (ast.Name, "id"),
    (ast.arg, "arg"),
    (ast.keyword, "arg"),
    (ast.Attribute, "attr"),
    (ast.FunctionDef, "name"),
    (ast.ClassDef, "name"),
    (ast.alias, "asname"),
    (ast.ExceptHandler, "name"),
    (ast.MatchAs, "name"),
)


def names_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        for kind, field in NAMED:
            if isinstance(node, kind) and (name := getattr(node, field)):
                yield name


def banned_names(folder: Path, banned: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield each name in a folder that is made of a banned word: file, name, what to say instead."""
    for path in folder.rglob("*.py"):
        if path.parent.name == "versions":
            continue  # a migration keeps the name that it was made by
        for name in {path.stem, *names_in(ast.parse(path.read_text()))}:
            for word in re.split("_+", name.lower()):
                if word in banned:
                    yield str(path.relative_to(TOP)), name, banned[word]


@pytest.mark.parametrize("package", CORE)
def test_no_name_is_made_of_a_banned_word(package):
    found = {each for each in banned_names(TOP / "heatconv" / package, BANNED) if each[1] not in ALLOWED}
    assert not found


@pytest.mark.parametrize("folder", ["heatconv", "tests", "tools"])
def test_no_name_anywhere_is_made_of_a_word_for_telling(folder):
    found = {
        (file, name, instead)
        for file, name, instead in banned_names(TOP / folder, BANNED_ANYWHERE)
        if not name.startswith("test_")
    }
    assert not found


@pytest.mark.parametrize(("module", "term"), NAMED_FOR.items())
def test_a_module_that_is_named_for_a_term_is_there_and_the_term_in_the_glossary(module, term):
    assert (TOP / "heatconv" / module).is_file()
    assert f"\n   {term}\n" in GLOSSARY
