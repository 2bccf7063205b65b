# SPDX-License-Identifier: Apache-2.0
"""heatconv's daemons through a short time of everything at once; ``--minutes`` makes it longer."""

from __future__ import annotations

import pytest

from tests.chaos.run import play

SECONDS = 15.0
START = 1


@pytest.mark.long_run
@pytest.mark.timeout(0)
def test_whatever_goes_wrong_the_last_wish_comes_true(
    request, tmp_path, fresh_database, rabbit_url, add_line
):
    minutes, start = request.config.getoption("--minutes"), request.config.getoption("--seed")
    kind = request.config.getoption("--database")
    kind = "postgresql" if kind in (None, "sqlite") else kind
    report = play(
        tmp_path,
        start=START if start is None else start,
        seconds=SECONDS if minutes is None else minutes * 60,
        database_url=fresh_database(kind),
        transport_url=rabbit_url,
        restart_servers=request.config.getoption("--restart-servers"),
    )
    for line in report.lines:
        add_line(line)
    assert report.problems == []
