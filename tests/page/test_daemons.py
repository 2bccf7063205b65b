# SPDX-License-Identifier: Apache-2.0
"""What is seen when the daemons that do the work die, of a service of several."""

from __future__ import annotations

from contextlib import closing

import pytest

from heatconv.testing.templates import Template, thing
from tests.chaos.trial import Trial
from tests.page.another import looking

TWO = Template(network=thing("10.0.0.0/24"), web=thing("w", depends_on=["network"]))


@pytest.fixture
def daemons(run_daemons, fresh_database, rabbit_url):
    database = fresh_database("postgresql")
    return run_daemons(database_url=database, transport_url=rabbit_url, engines=1, workers=1)


def test_the_only_worker_dies_at_work_and_i_find_out_by_one_press(driver, daemons):
    """Why is it stuck? Until another worker comes, which is seen, too."""
    with closing(Trial(daemons, "shop", TWO)) as shop, looking(driver, daemons.endpoint) as page:
        shop.cloud.hold_after(1)
        shop.create()
        page.open()
        page.press("shop", "tbody")
        page.becomes("web", "moving")
        daemons.kill("worker-1")
        shop.cloud.release()
        page.see("No worker runs", ".why-box li")
        page.see("An operator has to start heatconv-worker", ".why-box .advice")
        page.keep("no-worker")

        daemons.start("worker-2")
        page.becomes("web", "done")
        page.see("create complete", ".title")
        shop.arrive()
        assert shop.problems() == []


def test_i_run_the_service_and_see_which_daemon_has_died(driver, daemons):
    with looking(driver, daemons.endpoint) as page:
        page.open()
        page.press("Service", "header")
        page.see("heatconv-worker", "tr.done")
        daemons.kill("worker-1")
        page.see("heatconv-worker", "tr.broken")
        page.see("heatconv-engine", "tr.done")
        page.keep("a-dead-daemon")
