# SPDX-License-Identifier: Apache-2.0
"""An engine purges by what its configuration says."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta

from heatconv.db.plumbing.session import Database
from heatconv.testing.keys import KEYRING
from tests.functional.purging.planted import NOW, YESTERDAY, add_all, names
from tests.functional.waiting import until


def test_an_engine_drops_the_stacks_that_were_deleted_long_enough_ago(
    run_daemons, fresh_database, rabbit_url
):
    url = fresh_database("postgresql")
    with closing(Database.from_url(url, KEYRING)) as database:
        add_all(database, "living")
        add_all(database, "yesterday", YESTERDAY)
        add_all(database, "two days ago", NOW - timedelta(days=2, minutes=1))

        options = {"purge": {"deleted_stacks_after": 2, "interval": 1}}
        run_daemons(database_url=url, transport_url=rabbit_url, engines=2, workers=0, options=options)

        until(lambda: names(database) == ["living", "yesterday"], lambda: names(database))
