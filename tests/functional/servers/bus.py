# SPDX-License-Identifier: Apache-2.0
"""A message bus of the test run's own: a virtual host, where one can be made."""

from __future__ import annotations

import secrets
import shutil
import subprocess
from contextlib import ExitStack

import amqp
import sqlalchemy as sa

TOPICS = ("heatconv-engine", "heatconv-worker", "heatconv")  #: the last is the pool of notifications


def own_bus(server: str, until: ExitStack) -> str:
    """Return the transport URL of a bus that nobody else uses until the exit.

    Only who runs the server may add a virtual host.  Anyone else gets the
    default one, whose queues of ours are deleted in the end.
    """
    user = sa.make_url(server).username
    vhost = f"heatconv-test-{secrets.token_hex(6)}"
    if _control("add_vhost", vhost):
        until.callback(_control, "delete_vhost", vhost)
        _control("set_permissions", "--vhost", vhost, str(user), ".*", ".*", ".*")
        return server + vhost
    until.callback(_delete_queues, server)
    return f"{server}/"


def _control(*arguments: str) -> bool:
    program = shutil.which("rabbitmqctl")
    if program is None:
        return False
    return subprocess.run([program, "--quiet", *arguments], capture_output=True, check=False).returncode == 0


def _delete_queues(server: str) -> None:
    url = sa.make_url(server)
    with amqp.Connection(f"{url.host}:{url.port}", userid=url.username, password=url.password) as connection:
        for topic in TOPICS:
            # Deleting what is not there is no error.
            connection.channel().queue_delete(topic)
