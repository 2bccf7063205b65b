# SPDX-License-Identifier: Apache-2.0
"""The cloud that daemons make resources in, for the users who log in to it."""

from __future__ import annotations

from functools import partial

from heatconv.cmd import keys
from heatconv.cmd.daemon import Daemon
from heatconv.db.convergence import delegations
from heatconv.engine.delegating import Authority
from heatconv.resources.registry import Registry
from heatconv.rpc import tokens
from heatconv.rpc.context import served


def adapt(daemon: Daemon, types: Registry) -> Authority | None:
    """Let stacks have the resources of the operator's cloud, if there is one; return its authority.

    Raises:
        SystemExit: its plugins are not installed, or there is no user to act by.
    """
    if not daemon.conf.openstack_resources:
        return None
    from heatconv.openstack import adapter  # noqa: PLC0415 - slow, and for nothing without a cloud

    def token_for(project_id: str) -> str | None:
        request = served()
        if request is None or request.project_id != project_id:
            return None
        return tokens.carried(request, daemon.database.keyring)

    with keys.reporting_misconfiguration(daemon.conf.prog):
        return adapter.adapt_for_users(
            types, daemon.conf, partial(delegations.of, daemon.database), token_for
        )
