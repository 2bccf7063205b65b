# SPDX-License-Identifier: Apache-2.0
"""What daemons of the release before need is taken away when none of them is up, or can come up any more."""

from __future__ import annotations

from contextlib import closing

import pytest
import sqlalchemy as sa

from heatconv import errors
from heatconv.cmd import upgrades
from heatconv.db import upgrading
from heatconv.db.convergence import services
from heatconv.db.plumbing import migration
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import contraction
from heatconv.model.records import Edition
from heatconv.testing.keys import KEY
from tests.functional.servers import nursery
from tests.functional.upgrading.conftest import CONTRACTING, EXPANDING

LONG = 3600.0
OURS = migration.newest()
LATER = {"release": "9", "schema_revision": CONTRACTING, "rpc_version": "9.0"}


@pytest.fixture
def database(database_url):
    with closing(Database.from_url(database_url)) as database:
        yield database


def sign_on(database, engine_id, edition):
    services.heartbeat(
        database, engine_id=engine_id, host="here", binary="test", topic="none", interval=60, edition=edition
    )


def ours():
    return Edition("1", OURS, "1.1")


def test_what_expands_both_releases_run_with(database, next_release):
    with next_release():
        migration.expand(database)
        assert migration.version(database) == EXPANDING
        migration.check(database)

    migration.check(database)
    sign_on(database, "mine", ours())
    assert [each.edition for each in services.list_services(database, dead_after=LONG)] == [ours()]


@pytest.mark.parametrize("edition", [None, ours()], ids=["silent", "ours"])
def test_nothing_is_taken_away_while_a_daemon_is_up_that_may_need_it(database, next_release, edition):
    sign_on(database, "mine", edition)
    sign_on(database, "theirs", Edition(**LATER))

    with next_release():
        with pytest.raises(
            errors.Misconfigured, match=rf"may need what {CONTRACTING} take away: test mine on"
        ):
            upgrading.contract(database, dead_after=LONG)
        assert migration.version(database) == EXPANDING

    migration.check(database)  # another one may come up


def test_when_they_are_gone_it_is_and_they_do_not_come_up_any_more(database, next_release):
    sign_on(database, "theirs", Edition(**LATER))

    with next_release():
        upgrading.contract(database, dead_after=LONG)
        assert migration.version(database) == CONTRACTING
        migration.check(database)
        upgrading.contract(database, dead_after=LONG)

    assert not sa.inspect(database.engine).has_table("purge_turn")
    with pytest.raises(
        errors.Misconfigured, match=f"taken away from it, by {CONTRACTING}, what daemons of this"
    ):
        migration.check(database)


def test_what_was_announced_and_broken_off_keeps_them_away_until_it_is_done(database, next_release):
    with next_release():
        migration.expand(database)
        migration.announce(database, [CONTRACTING])  # and killed

    with pytest.raises(errors.Misconfigured, match=CONTRACTING):
        migration.check(database)
    with next_release():
        migration.check(database)
        upgrading.contract(database, dead_after=LONG)
        assert migration.version(database) == CONTRACTING


def test_an_empty_database_has_nobody_to_wait_for(empty_database_url, next_release):
    with closing(Database.from_url(empty_database_url)) as empty, next_release():
        migration.expand(empty)
        assert migration.version(empty) == CONTRACTING
        assert migration.contracted(empty) == {CONTRACTING}


def test_the_operator_reads_what_to_do_next(database, next_release):
    def synced(*, contract):
        said = list(upgrades.sync(database, dead_after=LONG, contract=contract))
        return said, list(upgrades.status(database, dead_after=LONG))

    assert synced(contract=False)[0] == [f"The database is at {OURS}."]
    sign_on(database, "silent", None)
    with next_release():
        said, status = synced(contract=False)
        assert said[0] == f"The database is at {EXPANDING}."
        assert said[1].startswith(f"{CONTRACTING} takes away what daemons of the release before need")
        assert status[1:] == [
            f"database: schema {EXPANDING}",
            said[1],
            "up: 1 test, of a release that does not say",
            "understood by all of none: messages of version 1.0",
        ]
        services.forget(database, "silent")
        assert synced(contract=True)[0] == [f"The database is at {CONTRACTING}."]


def test_a_daemon_of_ours_ends_with_a_sentence(fresh_database, tmp_path):
    url = fresh_database("sqlite")
    with closing(Database.from_url(url)) as database, database.engine.begin() as connection:
        connection.execute(sa.insert(contraction).values(revision="later"))
    file = tmp_path / "heatconv.conf"
    file.write_text(f"[DEFAULT]\nauth_encryption_key = {KEY}\n[database]\nconnection = {url}\n")

    done = nursery.finish(["heatconv-engine", "--config-file", file])

    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert (
        "a later release has taken away from it, by later, what daemons of this one may need" in done.stderr
    )
