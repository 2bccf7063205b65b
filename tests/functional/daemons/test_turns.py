# SPDX-License-Identifier: Apache-2.0
"""Whoever else holds the threads of a worker, and for however long, a small stack is made."""

from __future__ import annotations

from contextlib import closing

from heatconv.testing.templates import Template, thing
from tests.chaos.trial import Trial

THREADS = 3
HUGE = Template(**{f"r{number}": thing("a") for number in range(THREADS * 4)})


def test_a_stack_that_holds_all_threads_keeps_nobody_waiting(run_daemons, fresh_database, rabbit_url):
    daemons = run_daemons(
        database_url=fresh_database("postgresql"),
        transport_url=rabbit_url,
        engines=1,
        workers=1,
        options={"worker": {"threads": THREADS}},
    )
    nothing = {"type": "OS::Heat::None"}
    small = {"a": nothing, "b": {**nothing, "depends_on": "a"}, "c": {**nothing, "depends_on": "b"}}
    with closing(Trial(daemons, "huge", HUGE)) as huge, closing(Trial(daemons, "small", Template())) as other:
        huge.cloud.hold_after(0)
        huge.create()
        assert huge.cloud.wait_for(THREADS, timeout=60)

        template = {"heat_template_version": "2021-04-16", "resources": small}
        other.client.create_stack({"stack_name": "small", "template": template})
        other.arrive()

        assert huge.cloud.counts()[1] == 0
        huge.cloud.release()
        huge.arrive()
        assert huge.problems() == []
