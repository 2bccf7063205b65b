# SPDX-License-Identifier: Apache-2.0
"""While no engine answers, every client gets to know in time, even one that the API has no thread for."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor

import requests


def test_who_waits_for_a_thread_waits_no_longer_than_others(run_daemons, fresh_database, rabbit_url):
    daemons = run_daemons(
        database_url=fresh_database("postgresql"),
        transport_url=rabbit_url,
        engines=1,
        workers=0,
        options={"api": {"threads": 1}},
    )
    daemons.processes["engine-1"].send(signal.SIGSTOP)

    def ask(_):
        with requests.Session() as session:
            session.trust_env = False
            return session.get(f"{daemons.endpoint}/stacks", timeout=60)

    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(ask, range(3)))

    assert [answer.status_code for answer in answers] == [503] * 3
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in answers)
    messages = [answer.json()["error"]["message"] for answer in answers]
    assert sum("no engine answered in time" in each for each in messages) == 1
    assert sum("was not begun" in each for each in messages) == 2
