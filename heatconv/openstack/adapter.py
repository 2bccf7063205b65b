# SPDX-License-Identifier: Apache-2.0
"""What a cloud adds to the resource types of this process.

Names are known from the start; a module of Heat's is imported when its type, its
client or its constraint is first used.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Mapping
from functools import partial
from importlib import metadata
from typing import Any

from oslo_config import cfg

from heatconv import errors
from heatconv.openstack import data, domain, finder, listed, mends, news, ways
from heatconv.openstack.keystone import Keystone
from heatconv.openstack.logins import DelegationOf, Logins, TokenFor, Trustee
from heatconv.openstack.session import Cloud, v3
from heatconv.openstack.types import BELOW, MODULES, OURS, STAND_FOR
from heatconv.resources import clients, constraints, support
from heatconv.resources.registry import Registry

DISTRIBUTION = "openstack-heat"
CLIENTS = "heat.engine.clients."  #: constraints that ask no service are ours
SERIES = "27."  #: the versions whose modules are the ones of ``types``


def adapt(registry: Registry, conf: cfg.ConfigOpts, cloud: str) -> None:
    """Add the types of a cloud to a registry, and let plugins act by one login.

    Types that are there already stay as they are.

    Args:
        conf: whose configuration files Heat's modules are to read, too.
        cloud: the name of a cloud in ``clouds.yaml``.

    Raises:
        Misconfigured: the plugins are not installed, the cloud lets nobody in, or stack users have a
            domain and no administrator.
    """
    heat = _installed()
    user = Cloud(cloud, conf.service_timeout)
    _add(registry, heat, conf, user.interface)
    registry.acts_for(lambda *_all, **_options: user.context())
    registry.has_stack_users(
        domain.configured(
            conf,
            auth_url=v3(user.auth_url),
            senders_url=_senders_url(),
            verify=user.session.verify,
            timeout=user.session.timeout,
            region_name=user.region_name,
        )
    )


def adapt_for_users(
    registry: Registry, conf: cfg.ConfigOpts, delegation_of: DelegationOf, token_for: TokenFor
) -> Keystone:
    """Add the types of a cloud to a registry, and let plugins act for each stack's user.

    Args:
        conf: whose configuration files Heat's modules are to read, too.
        delegation_of: what the user of a root stack has delegated.
        token_for: the token that came with the request that a thread serves, for a project.

    Returns:
        By whom users delegate.

    Raises:
        Misconfigured: the plugins are not installed, there is no user to act by, or stack users have a
            domain and no administrator.
    """
    _add(registry, _installed(), conf, "public")
    trustee = Trustee(conf)
    logins = Logins(trustee, delegation_of, token_for, cfg.CONF.region_name_for_services)
    registry.acts_for(logins.context)
    registry.has_stack_users(
        domain.configured(
            conf,
            auth_url=trustee.auth_url,
            senders_url=_senders_url(),
            verify=trustee.session.verify,
            timeout=trustee.session.timeout,
            region_name=cfg.CONF.region_name_for_services,
        )
    )
    return Keystone(
        trustee,
        token_for,
        conf.deferred_auth_method,
        conf.trusts_delegated_roles,
        redelegation=conf.allow_trusts_redelegation,
    )


def _add(registry: Registry, heat: metadata.Distribution, conf: cfg.ConfigOpts, interface: str) -> None:
    """Add the types of a cloud to a registry, and its clients and constraints to those of this process."""
    finder.install()
    configure(conf, interface)
    registry.promise(_types())
    registry.map(STAND_FOR)
    clients.installed().promise(
        {
            name: partial(_load_client, name, load)
            for name, load in _entry_points(heat, "heat.clients").items()
        }
    )
    constraints.installed().promise(_entry_points(heat, "heat.constraints"))
    registry.hear(news.READERS)


def configure(conf: cfg.ConfigOpts, interface: str) -> None:
    """Give the configuration that Heat's modules look into the same files as ours.

    Args:
        interface: the endpoints of the catalog to use, unless a file says otherwise.
    """
    cfg.CONF(
        [],
        project="heatconv",
        prog=conf.prog,
        default_config_files=list(conf.config_file or []),
        default_config_dirs=list(conf.config_dir or []),
    )
    importlib.import_module("heat.common.config")  # it registers what they read
    # A request whose answer was lost is not sent again below us: it may have made something, which
    # is looked for first.
    cfg.CONF.set_override("client_retry_limit", 0)
    cfg.CONF.set_default("endpoint_type", f"{interface}URL", group="clients")
    # It warns with each client that it is deprecated, which is for Heat's plugins to heed.
    logging.getLogger("neutronclient.v2_0.client").setLevel(logging.ERROR)


def _senders_url() -> str | None:
    """Return where servers and other senders of signals reach Keystone, if they do so elsewhere."""
    uri = cfg.CONF.clients_keystone.auth_uri
    return v3(uri) if uri else None


def _installed() -> metadata.Distribution:
    """Return the distribution that Heat's plugins come in."""
    try:
        heat = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        raise errors.Misconfigured(
            reason="a cloud's resource types are not installed: pip install 'heatconv[openstack]'."
        ) from None
    if not heat.version.startswith(SERIES):
        raise errors.Misconfigured(
            reason=f"{DISTRIBUTION} {heat.version} is installed, and {SERIES}x is needed: "
            "pip install 'heatconv[openstack]'."
        )
    return heat


def _types() -> dict[str, Callable[[], Any]]:
    heats = {name: partial(_load_type, module, name) for module, names in MODULES.items() for name in names}
    ours = {name: partial(_load_ours, place, name) for name, place in OURS.items()}
    once = {name: partial(_load_once, heats[other]) for name, other in STAND_FOR.items()}
    return {**heats, **ours, **once}


def _load_type(module: str, name: str) -> Any:
    """Import the module of a type and return its class, with what stands beside it in our tables.

    Raises:
        PluginError: it does not import.
    """
    try:
        mapping: Mapping[str, Any] = importlib.import_module(BELOW + module).resource_mapping()
    except ImportError as error:
        raise errors.PluginError(plugin=name, reason=error) from error
    return listed.listed(name, ways.searchable(name, mends.mended(name, data.marked(name, mapping[name]))))


def _load_ours(place: str, name: str) -> Any:
    module, _, class_ = place.partition(":")
    return ways.searchable(name, getattr(importlib.import_module(module), class_))


def _load_once(load: Callable[[], Any]) -> Any:
    """Return a type as it was when its name was not yet mapped: stacks of that time have it."""
    plain = load()
    status = support.SupportStatus(support.HIDDEN, substitute_class=plain)
    return type(plain.__name__, (plain,), {"support_status": status, "__doc__": plain.__doc__})


def _load_client(name: str, load: Callable[[], Any]) -> Any:
    return mends.client(name, load())


def _entry_points(heat: metadata.Distribution, group: str) -> dict[str, Callable[[], Any]]:
    """Return what the clients have in an entry point group of Heat's, by name, to be imported later."""
    return {
        each.name: each.load
        for each in heat.entry_points
        if each.group == group and each.value.startswith(CLIENTS)
    }
