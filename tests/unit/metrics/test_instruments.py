# SPDX-License-Identifier: Apache-2.0
"""What counts, what does not, and what nobody can make grow."""

from __future__ import annotations

import subprocess
import sys

import prometheus_client
import pytest

from heatconv.metrics import declared, types
from heatconv.metrics.declared import CASTS, CONNECTIONS, TRANSACTIONS
from heatconv.metrics.instruments import Counter, Gauge, switch_on
from heatconv.metrics.transactions import Counted, count_with_commit


@pytest.fixture(scope="module")
def registry():
    """Return what counts from now on: in a process of tests, to its end."""
    return switch_on(declared.ALL)


@pytest.fixture
def total(registry):
    """Return how much something has grown since the test began."""

    def read(name, **labels):
        return registry.get_sample_value(name, labels) or 0

    before = {}

    def begin(name, **labels):
        before[name, *sorted(labels.items())] = read(name, **labels)
        return lambda: read(name, **labels) - before[name, *sorted(labels.items())]

    return begin


@pytest.fixture
def named():
    types.name_each(["OS::Heat::None", "OS::Heat::Value"])
    yield
    types.name_each([])


def outcome(error):
    return f"ended by {error}"


def test_one_that_is_off_does_nothing():
    counter = Counter("heatconv_never_total", "Never.", ["of"])
    gauge = Gauge("heatconv_nothing", "Nothing.")

    counter.add(of="it")
    gauge.set(1)
    gauge.forget()


def test_off_means_that_the_library_is_not_even_imported():
    program = (
        "import sys; from heatconv.metrics import declared, endings, transactions; "
        "declared.CASTS.add(method='wake', outcome='sent'); sys.exit('prometheus_client' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_switched_on_twice_is_switched_on(registry):
    assert switch_on(declared.ALL) is registry


def test_what_has_happened_is_counted_by_its_labels(total):
    sent = total("heatconv_bus_casts_total", method="wake", outcome="sent")
    failed = total("heatconv_bus_casts_total", method="wake", outcome="failed")

    CASTS.add(method="wake", outcome="sent")
    CASTS.add(2, method="wake", outcome="sent")

    assert (sent(), failed()) == (3, 0)


def test_what_a_transaction_counts_counts_when_it_has_committed(total):
    happened = total("heatconv_database_connections_opened_total")
    committed = total("heatconv_database_transactions_total", kind="test", outcome="committed")

    with Counted("test", outcome):
        count_with_commit(CONNECTIONS)
        assert happened() == 0

    assert (happened(), committed()) == (1, 1)


def broken_off(*, inside=False):
    """Count in a transaction that is rolled back, around another that is not."""
    with Counted("test", outcome):
        count_with_commit(CONNECTIONS)
        if inside:
            with Counted("test", outcome):
                count_with_commit(CONNECTIONS)
        raise ValueError("it")


def test_what_a_transaction_counts_does_not_count_when_it_was_rolled_back(total):
    happened = total("heatconv_database_connections_opened_total")
    ended = total("heatconv_database_transactions_total", kind="test", outcome="ended by it")

    with pytest.raises(ValueError, match="it"):
        broken_off()

    assert (happened(), ended()) == (0, 1)


def test_a_transaction_inside_of_another_counts_by_itself(total):
    happened = total("heatconv_database_connections_opened_total")

    with pytest.raises(ValueError, match="it"):
        broken_off(inside=True)

    assert happened() == 1


def test_outside_of_a_transaction_nothing_is_written_and_nothing_counts(total):
    happened = total("heatconv_database_connections_opened_total")

    count_with_commit(CONNECTIONS)

    assert happened() == 0


def test_types_that_nobody_has_installed_are_one(named):
    assert [types.label(each) for each in ("OS::Heat::None", "mine.yaml", "Their::Own::Type")] == [
        "OS::Heat::None",
        "other",
        "other",
    ]


def test_not_more_than_so_many_types_have_figures_of_their_own(named):
    names = [f"Type::Number::{number:04d}" for number in range(types.MOST + 10)]

    types.name_each(names)

    assert len({types.label(each) for each in names}) == types.MOST + 1


def test_a_gauge_that_is_not_known_shows_nothing_of_what_was():
    registry = prometheus_client.CollectorRegistry()
    plain, labelled = Gauge("heatconv_plain", "It."), Gauge("heatconv_labelled", "It.", ["of"])
    for gauge in (plain, labelled):
        gauge.begin(registry)
    assert registry.get_sample_value("heatconv_plain") is None
    plain.set(1)
    labelled.set(1, of="it")
    assert registry.get_sample_value("heatconv_plain") == 1
    assert registry.get_sample_value("heatconv_labelled", {"of": "it"}) == 1

    for gauge in (plain, labelled):
        gauge.forget()

    assert registry.get_sample_value("heatconv_plain") is None
    assert registry.get_sample_value("heatconv_labelled", {"of": "it"}) is None


def test_a_gauge_may_be_read_when_it_is_asked_for():
    registry, waiting = prometheus_client.CollectorRegistry(), [1, 2]
    early, late = Gauge("heatconv_early", "It."), Gauge("heatconv_late", "It.")
    early.read_by(lambda: len(waiting))
    for gauge in (early, late):
        gauge.begin(registry)
    late.read_by(lambda: len(waiting))
    waiting.append(3)

    assert registry.get_sample_value("heatconv_early") == 3
    assert registry.get_sample_value("heatconv_late") == 3
    assert TRANSACTIONS.kind == "counter"
