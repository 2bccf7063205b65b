# SPDX-License-Identifier: Apache-2.0
"""A minute of real stacks while heatconv's processes die; ``python -m tests.cloud.chaos`` takes longer."""

from __future__ import annotations

import pytest

from tests.cloud.chaos import play


@pytest.mark.long
def test_whatever_dies_the_cloud_has_what_was_wished_last(admin, tmp_path, add_line):
    report = play(tmp_path, admin, seed=1, seconds=60, restart=False)
    for line in report.lines:
        add_line(line)
    assert report.problems == []
