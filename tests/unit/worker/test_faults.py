# SPDX-License-Identifier: Apache-2.0
"""Which errors may pass, and how long they are given."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import requests
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import MaxRetryError, NewConnectionError, ProtocolError

from heatconv.model.states import Action
from heatconv.resources.clients.status import PASSING, http_status
from heatconv.worker.faults import MAX_ASKED, MAX_PAUSE, SPREAD, is_passing, is_refusal, pause


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
    assert 0.25 <= pause(5, Answered(retry_after=0.25)) <= 0.25 * (1 + SPREAD)
    assert pause(5, Answered(retry_after=0)) > 0.25


def test_a_service_that_asks_for_a_day_is_asked_sooner():
    assert pause(0, Answered(retry_after=86_400)) <= MAX_ASKED * (1 + SPREAD)


def test_what_a_service_asks_for_is_found_in_its_answer():
    answer = SimpleNamespace(status_code=503, headers={"Retry-After": "7"})
    assert pause(0, Answered(response=answer)) >= 7
    answer.headers["Retry-After"] = "in a while"
    assert pause(0, Answered(response=answer)) < 7


def test_those_that_are_asked_to_come_back_do_not_come_at_once():
    assert len({pause(0, Answered(retry_after=10)) for _ in range(100)}) > 50


class Wrapped(Exception):
    """A library's error around another one, with a zero for the status of no answer."""

    status_code = 0


def wrapped(error):
    made = Wrapped()
    made.__cause__ = error
    return made


def test_a_connection_that_failed_is_known_whatever_a_library_makes_of_it():
    assert is_passing(wrapped(wrapped(requests.ConnectionError())), Action.CREATE)
    assert not is_passing(wrapped(ValueError()), Action.CREATE)


def test_an_answer_counts_more_than_what_was_before_it():
    error = wrapped(requests.ConnectionError())
    error.status_code = 400
    assert not is_passing(error, Action.CREATE)


def unanswered(reason):
    """Return the error of ``requests`` for a request that came to nothing for a reason of urllib3's."""
    return requests.ConnectionError(MaxRetryError(HTTPConnectionPool("here"), "/", reason))


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(),
        requests.ConnectTimeout(),
        unanswered(NewConnectionError(HTTPConnection("here"), "refused")),
    ],
)
def test_a_connection_that_was_refused_is_a_refusal_whatever_a_library_makes_of_it(error):
    assert is_refusal(error)
    assert is_refusal(wrapped(wrapped(error)))


@pytest.mark.parametrize(
    "error",
    [
        requests.ConnectionError(),
        requests.ConnectionError(ProtocolError("closed without an answer", ConnectionResetError())),
        unanswered(ProtocolError("closed without an answer")),
        requests.ReadTimeout(),
        ConnectionResetError(),
        TimeoutError(),
        Answered(status=500),
        Answered(status=408),
        ValueError(),
    ],
)
def test_what_a_service_may_have_heard_is_no_refusal(error):
    assert not is_refusal(error)
    assert not is_refusal(wrapped(error))


def test_of_two_connections_that_failed_the_later_one_counts():
    later = unanswered(ProtocolError("closed without an answer"))
    later.__context__ = unanswered(NewConnectionError(HTTPConnection("here"), "refused"))
    assert not is_refusal(later)


def test_the_pause_grows_and_stays_bounded():
    assert pause(0) <= 0.75
    assert 0.5 <= pause(1) <= 1.5
    assert all(pause(times) <= MAX_PAUSE * 1.5 for times in range(50))
