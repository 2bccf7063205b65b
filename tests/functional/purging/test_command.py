# SPDX-License-Identifier: Apache-2.0
"""heatconv-manage purge_deleted, called as heat-manage is."""

from __future__ import annotations

import signal

import pytest

from heatconv.cmd.manage import INTERRUPTED
from tests.functional.purging.planted import LONG_AGO, YESTERDAY, add_stack, everything, names
from tests.functional.servers import nursery
from tests.functional.servers.processes import Process, program


def manage(path, *arguments):
    return nursery.finish(["heatconv-manage", "--config-file", path, "purge_deleted", *arguments])


def test_an_operator_purges(database, config_file):
    """No key is needed."""
    add_stack(database, "long ago", LONG_AGO, project_id="me")
    add_stack(database, "yours", YESTERDAY, project_id="you")
    add_stack(database, "yesterday", YESTERDAY, project_id="me")
    before = everything(database)

    dry = manage(config_file, "--dry-run")
    assert dry.stdout == "1 deleted stacks would be purged, with 2 events and 3 other rows\n"
    assert everything(database) == before
    assert manage(config_file).stdout == "1 deleted stacks purged, with 2 events and 3 other rows\n"
    assert names(database) == ["yesterday", "yours"]
    assert manage(config_file, "-g", "hours", "-p", "me", "-b", "1", "20").stdout.startswith("1 ")
    assert names(database) == ["yours"]


MANY = 150  #: stacks that are not purged before somebody has seen the first of them go


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_who_interrupts_it_may_go_on_later(database, config_file, tmp_path):
    for number in range(MANY):
        add_stack(database, f"long ago {number}", LONG_AGO, events=0)
    command = [program("heatconv-manage"), "--config-file", str(config_file), "purge_deleted", "-b", "1"]
    process = Process(command, tmp_path / "log", start=nursery.start)
    process.wait_for("purged")

    code = process.stop(60, by=signal.SIGINT)

    assert code == 1
    assert process.output.splitlines()[-1] == INTERRUPTED
    assert 0 < len(names(database)) < MANY
    assert manage(config_file).returncode == 0
    assert names(database) == []


@pytest.mark.parametrize("granularity", ["days", "hours", "minutes", "seconds"])
@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_no_age_is_too_great(database, config_file, granularity):
    add_stack(database, "long ago", LONG_AGO)

    done = manage(config_file, "3153600000", "--granularity", granularity)

    nothing = "0 deleted stacks purged, with 0 events and 0 other rows\n"
    assert (done.stdout, done.stderr) == (nothing, "")
    assert names(database) == ["long ago"]


NO_AGE = "argument age: it is a whole number from 0 to 3153600000, and "


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-1"], f"{NO_AGE}'-1' is none"),
        (["soon"], f"{NO_AGE}'soon' is none"),
        (["1.5"], f"{NO_AGE}'1.5' is none"),
        (["3153600001"], f"{NO_AGE}'3153600001' is none"),
        (["9" * 5000], f"{NO_AGE}'{'9' * 20}...' is none"),
        (["-b", "0"], "it is a whole number from 1 to 1000, and '0' is none"),
        (["-g", "weeks"], "invalid choice: 'weeks'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(tmp_path, arguments, complaint):
    path = tmp_path / "heatconv.conf"
    path.write_text("[database]\nconnection = sqlite://\n")

    refused = manage(path, *arguments)

    assert (refused.returncode, refused.stdout) == (2, "")
    usage, _, said = refused.stderr.rpartition("heatconv-manage purge_deleted: error: ")
    assert usage.startswith("usage: ")
    assert complaint in said
    assert said.count("\n") == 1
