# SPDX-License-Identifier: Apache-2.0
"""No module imports itself by way of others, not even late, in a function."""

from __future__ import annotations

import graphlib

import grimp

import heatconv


def test_nothing_is_imported_in_a_circle():
    imports = grimp.build_graph(heatconv.__name__, cache_dir=None)
    graph = {module: imports.find_modules_directly_imported_by(module) for module in imports.modules}
    assert "heatconv.db.tables" in graph
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules
