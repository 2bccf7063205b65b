# SPDX-License-Identifier: Apache-2.0
"""A real Keystone on SQLite, made new: run with the Python of a venv that has Keystone.

    python keystone_server.py DIRECTORY

It says ``keystone is up: URL`` when it answers.  The user ``admin`` has the password
``secret`` and the role ``admin`` in the project ``admin``; member, reader and their
implications are there too.
"""

from __future__ import annotations

import socketserver
import sys
import warnings
from pathlib import Path
from wsgiref import simple_server

warnings.simplefilter("ignore")  # of eventlet's end, at each of a dozen imports

import keystone.conf  # noqa: E402 - after the filter
import keystone.server  # noqa: E402
from keystone.cmd import bootstrap  # noqa: E402
from keystone.common import fernet_utils  # noqa: E402
from keystone.common.sql import upgrades  # noqa: E402
from keystone.server.flask import application, core  # noqa: E402

CONFIG = """
[database]
connection = sqlite:///{directory}/keystone.sqlite
[fernet_tokens]
key_repository = {directory}/keys
[fernet_receipts]
key_repository = {directory}/keys
[credential]
key_repository = {directory}/keys
[cache]
# What it has looked up once it knows, in its own memory.
enabled = true
backend = oslo_cache.dict
[identity]
# As cheap as hashes get.
password_hash_rounds = 4
"""


class Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    """Answers each request on a thread of its own."""

    daemon_threads = True


class Quiet(simple_server.WSGIRequestHandler):
    """Writes no access log."""

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


def main(directory: Path) -> None:
    """Make the database, the keys and the first user, and serve."""
    config_file = directory / "keystone.conf"
    config_file.write_text(CONFIG.format(directory=directory))
    keystone.server.configure(config_files=[str(config_file)])
    with Server(("127.0.0.1", 0), Quiet) as server:
        url = f"http://127.0.0.1:{server.server_port}/v3"
        _fill(url)
        server.set_app(core.setup_app_middleware(application.application_factory("public")))
        print(f"keystone is up: {url}", flush=True)  # noqa: T201 - whoever waits reads it
        server.serve_forever()


def _fill(url: str) -> None:
    """Make the tables, the keys, and the first user."""
    upgrades.offline_sync_database_to_version()
    keys = fernet_utils.FernetUtils(keystone.conf.CONF.fernet_tokens.key_repository, 3, "fernet_tokens")
    keys.create_key_directory()
    keys.initialize_key_repository()
    first = bootstrap.Bootstrapper()
    first.admin_username = first.project_name = first.admin_role_name = "admin"
    first.admin_password = "secret"
    first.service_name = "keystone"
    first.region_id = "RegionOne"
    first.public_url = first.internal_url = first.admin_url = url
    first.bootstrap()


if __name__ == "__main__":
    # Keystone reads the command line too, and knows no such argument.
    main(Path(sys.argv.pop()).resolve())
