# SPDX-License-Identifier: Apache-2.0
"""What the documentation shows of a change that is reviewed is what is printed."""

from __future__ import annotations

from tools.plan_story import COMMAND, PAGE, story


def test_the_page_is_what_is_printed():
    assert PAGE.read_text() == story(), f"run `{COMMAND}` and commit what it writes"
