# SPDX-License-Identifier: Apache-2.0
"""Which errors may pass, and how long they are given."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import requests

from heatconv.model.states import Action
from heatconv.resources.clients.status import http_status
from heatconv.worker.faults import MAX_PAUSE, PASSING, is_passing, pause


class Answered(Exception):
    """An error as client libraries raise it: with the HTTP status under some name or other."""

    def __init__(self, **fields):
        super().__init__()
        self.__dict__.update(fields)


@pytest.mark.parametrize("name", ["http_status", "status_code", "status", "code"])
def test_a_status_is_found_by_the_names_that_client_libraries_use(name):
    assert http_status(Answered(**{name: 503})) == 503
    assert http_status(Answered(**{name: "E503"})) is None


def test_a_status_is_found_in_the_response():
    assert http_status(Answered(response=SimpleNamespace(status_code=404))) == 404
    assert http_status(Answered()) is None


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        *[(Answered(status=status), True) for status in sorted(PASSING)],
        *[(Answered(status=status), False) for status in (400, 403, 404, 409, 501)],
        (ConnectionResetError(), True),
        (TimeoutError(), True),
        (requests.ConnectionError(), True),
        (requests.Timeout(), True),
        (ValueError("status"), False),
    ],
)
def test_what_is_busy_or_away_may_be_back(error, passes):
    assert is_passing(error, Action.CREATE) == passes


def test_what_is_still_in_use_may_be_deleted_later():
    assert is_passing(Answered(status=409), Action.DELETE)
    assert not is_passing(Answered(status=409), Action.UPDATE)


def test_the_pause_is_the_one_the_service_asks_for():
    assert pause(5, Answered(retry_after=0.25)) == 0.25
    assert pause(5, Answered(retry_after=0)) > 0.25


def test_the_pause_grows_and_stays_bounded():
    assert pause(0) <= 0.75
    assert 0.5 <= pause(1) <= 1.5
    assert all(pause(times) <= MAX_PAUSE * 1.5 for times in range(50))
