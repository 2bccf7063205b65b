# SPDX-License-Identifier: Apache-2.0
"""What the suites are told before they run: a ``tempest.conf``, and a ``heat-manage`` in their path."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tests.functional.servers.daemons import Options
from tests.functional.servers.processes import program

HIDDEN_TAG = "data-processing-cluster"

#: What the suites suppose of the service, beside its defaults.
SUPPOSED: Options = {
    "DEFAULT": {"enable_stack_abandon": True, "enable_stack_adopt": True, "hidden_stack_tags": HIDDEN_TAG}
}

#: Services by the names that tempest has for them, with the types that a catalog has.
SERVICES = {
    "cinder": "volumev3",
    "glance": "image",
    "neutron": "network",
    "nova": "compute",
    "swift": "object-store",
    "zaqar": "messaging",
    "aodh": "alarming",
    "gnocchi": "metric",
    "octavia": "load-balancer",
}


def environment(directory: Path) -> dict[str, str]:
    """Return the environment for what is in a directory."""
    return {
        "TEMPEST_CONFIG_DIR": str(directory),
        "TEMPEST_CONFIG": "tempest.conf",
        "PATH": f"{directory / 'bin'}:{os.environ['PATH']}",
    }


def configure(
    directory: Path, *, auth_url: str, region: str, types: frozenset[str], heat: Mapping[str, object]
) -> None:
    """Write the suites' configuration.

    Args:
        directory: where to.
        auth_url: of version 3 of Keystone.
        region: where the services are.
        types: those of the services that are there.
        heat: of the group ``heat_plugin``: who acts, and with what.
    """
    available = {name: kind in types for name, kind in SERVICES.items()}
    here = {
        "auth_url": auth_url,
        "region": region,
        "user_domain_id": "default",
        "project_domain_id": "default",
        "user_domain_name": "Default",
        "project_domain_name": "Default",
        "hidden_stack_tag": HIDDEN_TAG,
        "build_interval": 1,
        "build_timeout": 180,
    }
    locks = directory / "locks"
    locks.mkdir()
    groups: Options = {
        "DEFAULT": {"log_dir": directory},
        "oslo_concurrency": {"lock_path": locks},
        "identity": {"uri_v3": auth_url, "region": region},
        "service_available": available,
        "heat_plugin": {**here, **heat},
        "heat_features_enabled": {"stack_cancel": True},
    }
    (directory / "tempest.conf").write_text(
        "\n".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in its.items())
            for group, its in groups.items()
        )
    )


def heat_manage(directory: Path, config_file: Path) -> None:
    """Give heatconv-manage the name by which a suite calls it."""
    script = directory / "bin" / "heat-manage"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {program("heatconv-manage")} --config-file {config_file} "$@"\n')
    script.chmod(0o755)
