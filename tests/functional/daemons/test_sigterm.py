# SPDX-License-Identifier: Apache-2.0
"""A daemon that is told to end finishes what it has begun, and leaves the rest to others."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from heatconv.client.http import Client

CALLERS = 4


def test_no_call_is_lost_when_engines_are_restarted(run_daemons, fresh_database, rabbit_url):
    daemons = run_daemons(
        database_url=fresh_database("postgresql"), transport_url=rabbit_url, engines=2, workers=0
    )
    answers = threading.Semaphore(0)
    stopping = threading.Event()

    def call():
        with closing(Client(daemons.endpoint)) as client:
            while not stopping.is_set():
                list(client.list_stacks({}))  # raises if no engine answers in time
                answers.release()

    with ThreadPoolExecutor() as pool:
        callers = [pool.submit(call) for _ in range(CALLERS)]
        try:
            for name in ("engine-1", "engine-2"):
                for _ in range(10 * CALLERS):
                    assert answers.acquire(timeout=60)
                assert daemons.processes[name].stop() == 0
                daemons.start(name)
                daemons.await_up(name)
        finally:
            stopping.set()
        for caller in callers:
            caller.result()
