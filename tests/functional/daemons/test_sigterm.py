# SPDX-License-Identifier: Apache-2.0
"""A daemon that is told to end finishes what it has begun, and leaves the rest to others."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from heatconv.client.http import Client
from heatconv.testing.templates import Template, thing
from tests.chaos.trial import Trial

CALLERS = 4
THREADS = 3


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


def test_what_waits_in_a_worker_goes_to_another_at_once(run_daemons, fresh_database, rabbit_url):
    daemons = run_daemons(
        database_url=fresh_database("postgresql"),
        transport_url=rabbit_url,
        engines=1,
        workers=1,
        # Nobody but the worker itself would ever ring for them again.
        options={"DEFAULT": {"ready_grace": 3600}, "worker": {"threads": THREADS}},
    )
    template = Template(**{f"r{number}": thing("a") for number in range(THREADS * 4)})
    with closing(Trial(daemons, "wide", template)) as wide:
        wide.cloud.hold_after(0)
        wide.create()
        assert wide.cloud.wait_for(THREADS, timeout=60)

        daemons.processes["worker-1"].stop()
        daemons.start("worker-2")
        daemons.await_up("worker-2")
        wide.cloud.release()

        wide.arrive()
        assert wide.problems() == []
