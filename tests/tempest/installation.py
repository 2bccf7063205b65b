# SPDX-License-Identifier: Apache-2.0
"""What the suites are run against: a Keystone, and heatconv's daemons on PostgreSQL and RabbitMQ behind it.

There are no other services of a cloud.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.functional.auth.identity import PASSWORD, Identity, keystone
from tests.functional.servers import schema
from tests.functional.servers.bus import own_bus
from tests.functional.servers.catalog import POSTGRESQL, RABBITMQ
from tests.functional.servers.daemons import Daemons, Options, merged
from tests.functional.servers.databases import Databases, PostgreSQL
from tests.tempest import suites

REGION = "RegionOne"
PROJECT = "demo"


@contextmanager
def installation(directory: Path) -> Iterator[dict[str, str]]:
    """Run it all with its files in a directory; yield the environment that the suites need."""
    with ExitStack() as until:
        databases = Databases(PostgreSQL(POSTGRESQL.provide(until)), schema.migrate)
        until.callback(databases.close)
        transport_url = own_bus(RABBITMQ.provide(until), until)
        identity = until.enter_context(keystone(_made(directory / "keystone")))
        project = identity.add_project(PROJECT)
        identity.add_user(PROJECT, "member", project)
        identity.grant("admin", "admin", project)
        daemons = until.enter_context(
            Daemons(
                _made(directory / "heatconv"),
                database_url=databases.fresh(),
                transport_url=transport_url,
                engines=2,
                workers=2,
                pace={},
                options=merged(suites.SUPPOSED, _options(identity)),
            )
        )
        identity.add_service("orchestration", _public(daemons.endpoint), REGION)
        suites.configure(
            directory,
            auth_url=identity.url,
            region=REGION,
            types=frozenset(),
            heat={
                "username": PROJECT,
                "password": PASSWORD,
                "project_name": PROJECT,
                "admin_username": "admin",
                "admin_password": PASSWORD,
                "admin_project_name": PROJECT,
            },
        )
        suites.heat_manage(directory, daemons.config_file)
        yield suites.environment(directory)


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


def _public(endpoint: str) -> str:
    parts = urlsplit(endpoint)
    return f"{parts.scheme}://{parts.netloc}/v1/%(project_id)s"


def _options(identity: Identity) -> Options:
    return {
        "DEFAULT": {"plugin_dirs": Path(__file__).parent / "plugins"},
        "auth": {"strategy": "keystone"},
        "keystone_authtoken": {
            "www_authenticate_uri": identity.url,
            "auth_type": "password",
            "auth_url": identity.url,
            "username": "admin",
            "password": PASSWORD,
            "project_name": "admin",
            "user_domain_id": "default",
            "project_domain_id": "default",
        },
    }
