# SPDX-License-Identifier: Apache-2.0
"""What the end of a test of OpenStack's suites comes to."""

from __future__ import annotations

import pytest

from tests.tempest.deselected import CLOUD, LIST, Deselected

LISTED = Deselected({"suite.Case.test_server": "needs Nova", "suite.Case.test_port(ipv6)": "needs Neutron"})


@pytest.mark.parametrize(
    ("test", "outcome", "verdict"),
    [
        ("suite.Case.test_stack[id-1]", "passed", "passed"),
        ("suite.Case.test_stack[id-1]", "failed", "failed"),
        ("suite.Case.test_stack[id-1]", "skipped", "failed"),
        ("suite.Case.test_server[id-2]", "failed", "deselected"),
        ("suite.Case.test_server[id-2]", "skipped", "deselected"),
        ("suite.Case.test_server[id-2]", "passed", "failed"),
        ("suite.Case.test_port[id-3](ipv6)", "failed", "deselected"),
        ("suite.Case.test_port[id-3](ipv4)", "failed", "failed"),
    ],
)
def test_a_test_passes_or_is_listed(test, outcome, verdict):
    assert LISTED.verdict(test, outcome, "").outcome == verdict


def test_a_listed_name_that_no_test_has_is_told():
    assert LISTED.unknown(["suite.Case.test_server[id-2]"]) == ["suite.Case.test_port(ipv6)"]


@pytest.mark.parametrize("text", ["a.b\n", "[why]\na.b\na.b\n"])
def test_a_name_has_one_reason(tmp_path, text):
    file = tmp_path / "list"
    file.write_text(text)
    with pytest.raises(AssertionError):
        Deselected.read(file)


@pytest.mark.parametrize(("file", "listed"), [(LIST, 101), (CLOUD, 31)])
def test_the_lists_only_shrink(file, listed):
    """Whoever takes a test out of a list lowers the number; nobody raises it."""
    reasons = Deselected.read(file).reasons

    assert all(reasons.values())
    assert len(reasons) == listed
