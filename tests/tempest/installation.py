# SPDX-License-Identifier: Apache-2.0
"""What the suites are run against: a Keystone, and heatconv's daemons on PostgreSQL and RabbitMQ behind it.

There are no other services of a cloud.  What the suites are told of it is in the
``tempest.conf`` that is written here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.functional.auth.identity import PASSWORD, Identity, keystone
from tests.functional.servers import schema
from tests.functional.servers.bus import own_bus
from tests.functional.servers.catalog import POSTGRESQL, RABBITMQ
from tests.functional.servers.daemons import Daemons, Options
from tests.functional.servers.databases import Databases, PostgreSQL
from tests.functional.servers.processes import program

REGION = "RegionOne"
PROJECT = "demo"
HIDDEN_TAG = "data-processing-cluster"

#: Services that tempest supposes to be there unless it is told otherwise.
ABSENT = ("cinder", "glance", "neutron", "nova", "swift", "zaqar", "aodh", "gnocchi", "octavia")


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
                options=_options(identity),
            )
        )
        identity.add_service("orchestration", _public(daemons.endpoint), REGION)
        _tempest_conf(directory / "tempest.conf", identity.url)
        _heat_manage(_made(directory / "bin") / "heat-manage", daemons.config_file)
        yield {
            "TEMPEST_CONFIG_DIR": str(directory),
            "TEMPEST_CONFIG": "tempest.conf",
            "PATH": f"{directory / 'bin'}:{os.environ['PATH']}",
        }


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


def _public(endpoint: str) -> str:
    parts = urlsplit(endpoint)
    return f"{parts.scheme}://{parts.netloc}/v1/%(project_id)s"


def _options(identity: Identity) -> Options:
    return {
        "DEFAULT": {
            "enable_stack_abandon": True,
            "enable_stack_adopt": True,
            "hidden_stack_tags": HIDDEN_TAG,
            "plugin_dirs": Path(__file__).parent / "plugins",
        },
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


def _tempest_conf(file: Path, auth_url: str) -> None:
    absent = "\n".join(f"{service} = false" for service in ABSENT)
    file.write_text(
        f"""
[DEFAULT]
log_dir = {file.parent}
[oslo_concurrency]
lock_path = {_made(file.parent / "locks")}
[identity]
uri_v3 = {auth_url}
region = {REGION}
[service_available]
{absent}
[heat_plugin]
auth_url = {auth_url}
region = {REGION}
username = {PROJECT}
password = {PASSWORD}
project_name = {PROJECT}
admin_username = admin
admin_password = {PASSWORD}
admin_project_name = {PROJECT}
user_domain_id = default
project_domain_id = default
user_domain_name = Default
project_domain_name = Default
hidden_stack_tag = {HIDDEN_TAG}
build_interval = 1
build_timeout = 180
[heat_features_enabled]
stack_cancel = true
"""
    )


def _heat_manage(script: Path, config_file: Path) -> None:
    """Give heatconv-manage the name by which a suite calls it."""
    script.write_text(f'#!/bin/sh\nexec {program("heatconv-manage")} --config-file {config_file} "$@"\n')
    script.chmod(0o755)
