# SPDX-License-Identifier: Apache-2.0
"""What the way in names is there: each file, and each function or class in it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
PAGE = TOP / "doc" / "source" / "explanation" / "life-of-a-check.rst"
NAMED = re.compile(r"``([a-z_]+(?:/[a-z_]+)*\.py)(?::(\w+))?``")


def steps():
    found = NAMED.findall(PAGE.read_text())
    assert len(found) > 30
    return sorted(set(found))


@pytest.mark.parametrize(("file", "name"), steps())
def test_it_is_there(file, name):
    tree = ast.parse((TOP / "heatconv" / file).read_text())
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert not name or name in defined
