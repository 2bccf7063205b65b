# SPDX-License-Identifier: Apache-2.0
"""Plans keep their word over REST; ``python -m tests.chaos.plans`` makes more of them."""

from __future__ import annotations

import pytest

from tests.chaos.fenced import Fence
from tests.chaos.kept_words import KeptWords
from tests.chaos.planned import running
from tests.functional.servers.databases import KINDS

EDITS = 10
TRIES = 8  #: of each kind two, with a daemon killed in half of them
SEED = 1


@pytest.mark.timeout(0)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_certain_happens_and_nothing_but_what_was_said(
    kind, tmp_path, fresh_database, request, add_line
):
    database_url, transport_url = "", None
    if kind != "sqlite":  # with that, all is in one process
        database_url, transport_url = fresh_database(kind), request.getfixturevalue("rabbit_url")
    with running(tmp_path, database_url, transport_url) as service:
        judge = KeptWords(service, SEED)
        list(judge.run(EDITS))
    add_line(f"plans on {kind}: {judge.summary()}")
    assert judge.misses == []
    assert sum(judge.said.values()) > EDITS


@pytest.mark.timeout(0)
@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_a_plan_goes_through_beside_what_it_touches_and_is_refused_after_just_that(
    kind, tmp_path, fresh_database, rabbit_url, add_line
):
    with running(tmp_path, fresh_database(kind), rabbit_url, **Fence.options(tmp_path)) as service:
        judge = Fence(service, SEED)
        list(judge.run(TRIES))
    add_line(f"plans on {kind}: {judge.summary()}")
    assert judge.misses == []
    assert sum(judge.done.values()) == TRIES
