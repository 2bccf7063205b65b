# SPDX-License-Identifier: Apache-2.0
"""What the services have in common."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

from oslo_config import cfg

from heatconv.cmd.daemon import Daemon
from heatconv.crypto import Keyring
from heatconv.db.software.configs import Quotas
from heatconv.model import bounds
from heatconv.model.records import Stack
from heatconv.resources.registry import Registry
from heatconv.signing import Signer
from heatconv.template import limits


def registry(daemon: Daemon) -> Registry:
    """Return the resource types that are installed, and those of the plugin directories."""
    return Registry.load([path for path in daemon.conf.plugin_dirs if pathlib.Path(path).is_dir()])


def bound_templates(conf: cfg.ConfigOpts) -> None:
    """Set what queries and groups in templates may come to, for this process, an engine or a worker."""
    limits.YAQL.iterators = conf.yaql.limit_iterators
    limits.YAQL.memory = conf.yaql.memory_quota
    bounds.GROUPS.members = conf.max_resources_per_stack
    bounds.GROUPS.text = conf.max_template_size


def software_quotas(conf: cfg.ConfigOpts) -> Quotas:
    """Return how many configs and deployments a project may have."""
    return Quotas(
        configs=conf.max_software_configs_per_tenant,
        deployments=conf.max_software_deployments_per_tenant,
    )


def signal_url(daemon: Daemon) -> Callable[[Stack, str], str]:
    """Return what tells where a signal to a stack's resource of some name can be sent."""
    url = signer(daemon.conf, daemon.database.keyring).signal_url
    return lambda stack, name: url(stack.project_id, stack.name, stack.id, name)


def signer(conf: cfg.ConfigOpts, keyring: Keyring) -> Signer:
    """Return what signs URLs for signals."""
    secret, *old_secrets = keyring.subkeys("signals")
    old_secrets += keyring.former_subkeys("signals")
    endpoint = conf.api.public_endpoint or f"http://{conf.api.host}:{conf.api.port}"
    return Signer(secret, endpoint, old_secrets, lifetime=conf.api.signal_url_lifetime)
