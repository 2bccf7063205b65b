# SPDX-License-Identifier: Apache-2.0
"""How the documentation is built."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "heatconv"
author = "the heatconv developers"
copyright = "the heatconv developers, Apache License 2.0"  # noqa: A001 - Sphinx's name for it
extensions = ["cliff.sphinxext", "oslo_config.sphinxext", "plans", "rest", "tables"]
# What every command that prints a table has; `heatconv help` tells the rest.
autoprogram_cliff_ignored = [
    "--help",
    "--quote",
    "--noindent",
    "--max-width",
    "--fit-width",
    "--print-empty",
    "--prefix",
    "--sort-column",
    "--sort-ascending",
    "--sort-descending",
]
nitpicky = True
html_theme = "alabaster"
html_theme_options = {
    "description": "Convergence for Heat templates",
    "fixed_sidebar": True,
    "page_width": "72rem",
}
html_show_sphinx = False
