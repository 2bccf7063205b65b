# SPDX-License-Identifier: Apache-2.0
"""Which of a server's errors say that it cannot serve, and which that what was asked is wrong."""

from __future__ import annotations

import pymysql.err
import pytest

from heatconv.db.plumbing.clusters import cannot_serve


@pytest.mark.parametrize(
    "said",
    [
        (1047, "WSREP has not yet prepared node for application use"),
        (
            1180,
            "Error while appending streaming replication fragment(provider status: Not connected to Primary",
        ),
        (1235, "This version of MariaDB doesn't yet support 'synchronous reads by wsrep backend.'"),
        (
            1290,
            "The MariaDB server is running with the --read-only option so it cannot execute this statement",
        ),
        (1836, "Running in read-only mode"),
    ],
)
def test_a_server_that_cannot_serve_says_so_in_several_ways(said):
    assert cannot_serve(pymysql.err.OperationalError(*said))


@pytest.mark.parametrize(
    "said",
    [
        (1062, "Duplicate entry '1' for key 'PRIMARY'"),
        (1235, "This version of MariaDB doesn't yet support 'LIMIT & IN/ALL/ANY/SOME subquery'"),
        (1290, "The MariaDB server is running with the --secure-file-priv option"),
        (),
    ],
)
def test_a_statement_that_is_wrong_is_wrong_anywhere(said):
    assert not cannot_serve(pymysql.err.OperationalError(*said))


def test_what_is_no_error_of_a_server_says_nothing_of_it():
    assert not cannot_serve(None)
    assert not cannot_serve(OSError("gone"))
