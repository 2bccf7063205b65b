# SPDX-License-Identifier: Apache-2.0
"""What a resource costs does not grow with its stack; what an update costs follows the change."""

from __future__ import annotations

import pytest

from tests.perf.count import wide
from tests.perf.counting import CONTEXT, Heatconv

SMALL, LARGE = 100, 300
EACH = {"statements": 12.0, "commits": 3.1, "messages": 1.1}  #: what one resource may cost


@pytest.fixture
def heatconv(database_url, rabbit_url):
    running = Heatconv(database_url, rabbit_url, workers=2, threads=16)
    yield running
    running.close()


def create(heatconv, size):
    """Create a wide stack; return its id and what that took."""
    ids = []

    def request():
        ids.append(heatconv.client.create_stack(CONTEXT, f"wide-{size}", {"template": wide(size)}, {}))
        return ids[0]

    seconds, counts = heatconv.measure(request)
    print(f"create of {size}: {seconds:.2f} s, {dict(counts)}")
    return ids[0], counts


def change_one(heatconv, size, stack_id):
    """Change one resource of a wide stack; return what that took."""

    def request():
        heatconv.client.update_stack(CONTEXT, stack_id, {"template": wide(size, "changed")}, {})
        return stack_id

    seconds, counts = heatconv.measure(request)
    print(f"change of 1 in {size}: {seconds:.2f} s, {dict(counts)}")
    return counts


def test_a_resource_costs_the_same_in_stacks_of_any_size(heatconv):
    small, large = (
        {what: count / size for what, count in create(heatconv, size)[1].items()} for size in (SMALL, LARGE)
    )

    assert {what: each for what, each in large.items() if each > EACH[what]} == {}
    assert large == pytest.approx(small, rel=0.05)


def test_a_change_costs_the_same_in_stacks_of_any_size(heatconv):
    small, large = (change_one(heatconv, size, create(heatconv, size)[0]) for size in (SMALL, LARGE))

    assert large == small
