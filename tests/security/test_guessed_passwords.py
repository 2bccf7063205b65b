# SPDX-License-Identifier: Apache-2.0
"""A stranger found out which users there are, and then guessed their passwords as fast as the API answers.

A name that was not in the file was refused at once; for one that was, a slow hash was
made first.
"""

from __future__ import annotations

from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor

import bcrypt
import pytest
import requests
from falcon import testing
from oslo_config import cfg

from heatconv import conf as options
from heatconv.api import deploy, passwords
from heatconv.rpc.engine_client import EngineClient
from tests.unit.api.fake_engine import FakeEngine

STACKS = "/v1/web/stacks"
USERS = ("alice@web", "bob@web", "carol@web")
COSTLY = "dave@web"


def basic(name, password):
    return {"Authorization": "Basic " + b64encode(f"{name}:{password}".encode()).decode()}


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """A clock that stands still, but when it is told to go on."""
    now = [1000.0]
    monkeypatch.setattr(passwords, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def client(tmp_path):
    """An API whose users have their names for passwords."""
    file = tmp_path / "htpasswd"
    costs = dict.fromkeys(USERS, 4) | {COSTLY: 5}
    file.write_text(
        "# a remark\n"
        + "".join(
            f"{name}:{bcrypt.hashpw(name.encode(), bcrypt.gensalt(cost)).decode()}\n"
            for name, cost in costs.items()
        )
    )
    conf = cfg.ConfigOpts()
    options.register(conf)
    conf([])
    conf.set_override("strategy", "http_basic", "auth")
    conf.set_override("http_basic_user_file", str(file), "auth")
    return testing.TestClient(deploy.application(EngineClient(FakeEngine()), conf))


def status(client, name, password, address="192.0.2.1"):
    return client.simulate_get(STACKS, headers=basic(name, password), remote_addr=address).status_code


@pytest.fixture
def hashed(monkeypatch):
    """What bcrypt was asked to work on: its cost is what takes time."""
    costs = []
    real = bcrypt.checkpw

    def check(password, hashed):
        costs.append(int(hashed[4:6]))
        return real(password, hashed)

    monkeypatch.setattr(bcrypt, "checkpw", check)
    return costs


@pytest.mark.parametrize("password", ["wrong", "", "x" * 72, "x" * 73])
def test_the_same_work_is_done_for_a_name_that_is_not_there(client, hashed, password):
    for name in ("alice@web", "nobody@web", "", "alice", "alice@web2"):
        del hashed[:]

        assert status(client, name, password) == 401

        assert len(hashed) == 1


def test_what_it_costs_tells_nothing_either(client, hashed):
    """Hashes that cost more than others are some users': so they are some strangers' too, and stay so."""
    seen: dict[int, set[int]] = {}
    for round_ in range(2):
        for number in range(60):
            del hashed[:]
            address = f"2001:db8:{round_}:{number}::1"
            assert status(client, f"nobody-{number}", "wrong", address) == 401
            seen.setdefault(number, set()).add(hashed[0])
    assert all(len(costs) == 1 for costs in seen.values())
    assert {cost for costs in seen.values() for cost in costs} == {4, 5}


@pytest.mark.parametrize("name", ["alice@web", "nobody@web"])
def test_guesses_for_a_name_are_slowed_down_wherever_they_come_from(client, hashed, name):
    found = [status(client, name, f"guess-{number}", f"192.0.2.{number}") for number in range(30)]

    assert found == [401] * 20 + [429] * 10
    assert len(hashed) == 20
    assert status(client, name, name, "192.0.2.99") == 429, "the right one is a guess like any other"


def test_after_a_while_there_is_another_guess(client, clock):
    for _ in range(20):
        assert status(client, "alice@web", "guess") == 401
    clock[0] += 10

    assert [status(client, "alice@web", "guess") for _ in range(2)] == [401, 429]
    clock[0] += 10
    assert status(client, "alice@web", "alice@web") == 200


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::%x"])
def test_guesses_from_an_address_are_slowed_down_whatever_their_names(client, address):
    at = [address % number if "%" in address else address for number in range(110)]
    found = [status(client, f"nobody-{number}", "guess", at[number]) for number in range(110)]

    assert found[:100] == [401] * 100
    assert 429 in found[100:]


def test_who_is_slowed_down_is_told_so(client):
    for _ in range(20):
        status(client, "alice@web", "guess")
    answer = client.simulate_get(STACKS, headers=basic("alice@web", "guess"))
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 10
    assert answer.json["error"]["message"].startswith("There were too many wrong passwords. Try again in ")


def test_who_was_let_in_before_is_not_shut_out_by_others(client):
    assert status(client, "alice@web", "alice@web") == 200
    for number in range(30):
        status(client, "alice@web", f"guess-{number}")
    for number in range(110):
        status(client, f"nobody-{number}", "guess")

    assert status(client, "alice@web", "alice@web") == 200
    assert status(client, "bob@web", "bob@web", "192.0.2.2") == 200


def test_right_passwords_are_no_guesses(client):
    for name in (*USERS, COSTLY):
        assert [status(client, name, name) for _ in range(40)] == [200] * 40


def test_many_at_a_time_are_as_many_guesses(client):
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda number: status(client, "alice@web", f"guess-{number}"), range(64)))

    assert found.count(401) == 20
    assert found.count(429) == 44


def test_an_address_that_a_client_makes_up_is_not_believed(by_password):
    """A proxy would add the real one; there is none here, and so nothing is believed."""
    url = f"{by_password.endpoint}/v1/somebody/stacks"
    found = {
        requests.get(
            url,
            headers=basic("somebody", f"guess-{number}") | {"X-Forwarded-For": f"192.0.2.{number}"},
            timeout=60,
        ).status_code
        for number in range(25)
    }
    assert found == {401, 429}
