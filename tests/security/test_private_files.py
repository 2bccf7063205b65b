# SPDX-License-Identifier: Apache-2.0
"""Another user of the machine read the database: the directory and the files were anybody's to read."""

from __future__ import annotations

import os
import stat
import subprocess
from contextlib import closing

import pytest

from heatconv.client.http import Client
from heatconv.crypto import generate_key
from heatconv.db.plumbing.session import Database
from tests.functional.servers.one_process import heatconv_all
from tests.functional.servers.processes import program
from tests.functional.waiting import until


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path):
    return oct(stat.S_IMODE(path.stat().st_mode))


def modes(directory):
    return {path.name: mode(path) for path in directory.iterdir()}


def run(tmp_path, cloud_url):
    """Run heatconv-all, have it keep something, and return the modes of what it keeps while it runs."""
    with heatconv_all(tmp_path, cloud_url) as endpoint, closing(Client(endpoint)) as client:
        name = f"kept-{len(list(client.list_stacks({})))}"
        client.create_stack({"stack_name": name, "template": {"heat_template_version": "2021-04-16"}})
        until(lambda: client.show_stack(name)["stack_status"] == "CREATE_COMPLETE")
        return mode(tmp_path / "state"), modes(tmp_path / "state")


def test_what_is_kept_is_its_owners(tmp_path, cloud_url):
    directory, files = run(tmp_path, cloud_url)

    assert directory == "0o700"
    assert {"heatconv.sqlite", "heatconv.key"} <= files.keys()
    assert set(files.values()) == {"0o600"}


def test_what_is_there_already_becomes_so(tmp_path, cloud_url):
    run(tmp_path, cloud_url)
    (tmp_path / "state").chmod(0o755)
    for path in (tmp_path / "state").iterdir():
        path.chmod(0o644)
    for suffix in ("-wal", "-shm", "-journal"):  # left by one that was killed
        left = tmp_path / "state" / f"heatconv.sqlite{suffix}"
        left.touch()
        left.chmod(0o644)

    directory, files = run(tmp_path, cloud_url)

    assert directory == "0o700"
    assert set(files.values()) == {"0o600"}


@pytest.mark.parametrize("bits", [0o755, 0o1777])
def test_a_directory_that_others_use_too_stays_as_it_is(tmp_path, cloud_url, bits):
    state = tmp_path / "state"
    state.mkdir()
    (state / "theirs").touch()
    state.chmod(bits)

    directory, files = run(tmp_path, cloud_url)

    assert directory == oct(bits)
    assert files.pop("theirs") == "0o644"
    assert set(files.values()) == {"0o600"}


def test_a_log_is_its_owners(tmp_path, cloud_url):
    log = tmp_path / "heatconv.log"
    with heatconv_all(tmp_path, cloud_url, "--log-file", str(log)):
        assert mode(log) == "0o600"


def test_a_database_that_daemons_or_an_operator_make_is_their_owners(tmp_path):
    file = tmp_path / "heatconv.conf"
    file.write_text(
        f"[DEFAULT]\nauth_encryption_key = {generate_key()}\nlog_file = {tmp_path}/log\n"
        f"[database]\nconnection = sqlite:///{tmp_path}/of-daemons.sqlite\n"
    )
    subprocess.run([program("heatconv-manage"), "--config-file", file, "db_sync"], check=True)

    assert mode(tmp_path / "of-daemons.sqlite") == "0o600"
    assert mode(tmp_path / "log") == "0o600"


def test_a_file_is_at_no_time_anybodys(tmp_path):
    """It is made with its mode, and not changed afterwards."""
    database = Database.from_url(f"sqlite:///{tmp_path}/fresh.sqlite")
    assert modes(tmp_path) == {"fresh.sqlite": "0o600"}
    database.close()
