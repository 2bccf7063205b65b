# SPDX-License-Identifier: Apache-2.0
"""Groups whose daemons are killed in the middle of what they do to the members."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.functional.nested.conftest import Tree, hot
from tests.functional.nested.test_groups import group
from tests.functional.nested.test_scaling import await_size, policy, signal
from tests.functional.nested.test_scaling import group as scaled

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def daemons(run_daemons, fresh_database, rabbit_url):
    return run_daemons(
        database_url=fresh_database("postgresql"), transport_url=rabbit_url, engines=2, workers=2
    )


def test_batches_go_on_when_workers_are_killed_one_after_the_other(daemons):
    with closing(Tree(daemons.endpoint, daemons.cloud_url)) as tree:
        paced = {"rolling_update": {"max_batch_size": 1, "pause_time": 1}}
        tree.create({"G": group(4, update_policy=paced)})
        tree.calls()

        tree.client.update_stack(
            tree.name, {"template": hot({"G": group(4, "w%index%", update_policy=paced)})}
        )
        while "w0" not in tree.values():
            pass
        daemons.kill("worker-1")
        daemons.start("worker-1")
        while "w2" not in tree.values():
            pass
        daemons.kill("worker-2")
        tree.await_state("UPDATE_COMPLETE")

        assert tree.values() == ["w0", "w1", "w2", "w3"]
        assert list(dict.fromkeys(tree.calls())) == ["update 0", "update 1", "update 2", "update 3"]


def test_signals_are_taken_while_engines_and_workers_are_killed(daemons):
    with closing(Tree(daemons.endpoint, daemons.cloud_url)) as tree:
        tree.create({"G": scaled(1, 9), "P": policy()})
        signal(tree)
        daemons.kill("worker-1")
        signal(tree)
        daemons.kill("engine-1")
        signal(tree)

        await_size(tree, 4)
