# SPDX-License-Identifier: Apache-2.0
"""A daemon whose database cannot be used says so in one sentence, and does not start."""

from __future__ import annotations

import subprocess

import pytest

from heatconv.crypto import generate_key
from tests.functional.servers.processes import program


@pytest.mark.parametrize("daemon", ["engine", "worker"])
def test_without_tables(tmp_path, daemon):
    config_file = tmp_path / "heatconv.conf"
    config_file.write_text(
        f"""
[DEFAULT]
auth_encryption_key = {generate_key()}
[database]
connection = sqlite:///{tmp_path}/empty.sqlite
"""
    )
    command = [program(f"heatconv-{daemon}"), "--config-file", config_file]

    ended = subprocess.run(command, check=False, capture_output=True, text=True)

    assert ended.returncode == 1
    assert ended.stderr.startswith(f"heatconv-{daemon}: The database is at schema none, and ")
    assert ended.stderr.endswith(" is needed; run 'heatconv-manage db_sync'.\n")
    assert ended.stderr.count("\n") == 1
