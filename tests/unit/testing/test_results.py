# SPDX-License-Identifier: Apache-2.0
"""The results of OpenStack's suites, on two services beside each other."""

from __future__ import annotations

from tests.tempest.results import End, add, beside, read


def test_the_last_result_of_a_test_counts(tmp_path):
    file = tmp_path / "results"

    add(file, "suite.Case.test_port[id-3](ipv6)", End("failed", "no port"))
    add(file, "suite.Case.test_net[id-4]", End("skipped", "no Neutron"))
    add(file, "suite.Case.test_port[id-3](ipv6)", End("passed", ""))

    assert read(file) == {
        "suite.Case.test_port(ipv6)": End("passed", ""),
        "suite.Case.test_net": End("skipped", "no Neutron"),
    }


def test_only_what_ended_otherwise_is_named():
    ours = {"both": End("passed", ""), "theirs": End("failed", "why"), "left out": End("passed", "")}
    theirs = {"both": End("passed", ""), "theirs": End("passed", "")}

    assert list(beside(ours, theirs)) == [
        "passed   absent   left out",
        "failed   passed   theirs",
        "failed   passed   1",
        "passed   absent   1",
        "passed   passed   1",
    ]
