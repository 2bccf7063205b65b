# SPDX-License-Identifier: Apache-2.0
"""What ``import heat.X`` means here: ours, Heat's own source, or nothing.

Heat's plugins import their contract from Heat.  Each module that they may have is
named below, once.  All else of Heat is refused: its database, its objects, its
engine and its policies would be a second engine in this process.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

PACKAGE = "heat"

#: Heat's module -> ours in its place.
OURS = {
    "heat.common.exception": "heatconv.openstack.stand_ins.exception",
    "heat.common.context": "heatconv.openstack.stand_ins.context",
    "heat.common.i18n": "heatconv.resources.i18n",
    "heat.common.netutils": "heatconv.openstack.stand_ins.netutils",
    "heat.common.password_gen": "heatconv.resources.password_gen",
    "heat.common.short_id": "heatconv.resources.short_id",
    "heat.common.timeutils": "heatconv.resources.timeutils",
    "heat.common.wsgi": "heatconv.openstack.stand_ins.nothing",
    "heat.engine.attributes": "heatconv.resources.attributes",
    "heat.engine.constraints": "heatconv.resources.constraints",
    "heat.engine.function": "heatconv.resources.function",
    "heat.engine.properties": "heatconv.resources.properties",
    "heat.engine.resource": "heatconv.openstack.stand_ins.resource",
    "heat.engine.resources.openstack.heat.none_resource": "heatconv.resources.heat.none_resource",
    "heat.engine.resources.signal_responder": "heatconv.resources.signal_responder",
    "heat.engine.resources.stack_user": "heatconv.openstack.stand_ins.stack_user",
    "heat.engine.rsrc_defn": "heatconv.resources.rsrc_defn",
    "heat.engine.support": "heatconv.resources.support",
    "heat.engine.translation": "heatconv.resources.translation",
}

#: What is imported of Heat as it is: it touches no database, no bus and no engine.
PURE = frozenset(
    {
        "heat.common.cache",
        "heat.common.config",
        "heat.common.endpoint_utils",
        "heat.engine.clients.client_exception",
        "heat.engine.clients.client_plugin",
        "heat.engine.clients.default_client_plugin",
        "heat.engine.clients.microversion_mixin",
        "heat.engine.clients.os",
        "heat.engine.clients.progress",
        "heat.engine.output",
        "heat.engine.resources.alarm_base",
        "heat.engine.resources.openstack.heat.deployed_server",
        "heat.engine.resources.openstack.heat.swiftsignal",
        "heat.engine.resources.scheduler_hints",
        "heat.engine.resources.server_base",
        "heat.engine.resources.volume_base",
        "heat.rpc.api",
        "heat.version",
    }
)

#: Packages whose own ``__init__`` is left out: it is nothing, or starts what is not wanted here.
HOLLOW = frozenset(
    {
        "heat",
        "heat.common",
        "heat.engine",
        "heat.engine.clients",
        "heat.engine.resources",
        "heat.engine.resources.aws",
        "heat.engine.resources.openstack",
        "heat.engine.resources.openstack.heat",
        "heat.rpc",
    }
)

#: Below these, each module is Heat's: one package for each service.
SERVICES = (
    "heat.engine.clients.os.",
    *(
        f"heat.engine.resources.openstack.{service}"
        for service in (
            "aodh",
            "barbican",
            "blazar",
            "cinder",
            "designate",
            "glance",
            "ironic",
            "keystone",
            "magnum",
            "manila",
            "mistral",
            "monasca",
            "neutron",
            "nova",
            "octavia",
            "sahara",
            "senlin",
            "swift",
            "trove",
            "vitrage",
            "zaqar",
            "zun",
        )
    ),
    "heat.engine.resources.aws.ec2",
    "heat.engine.resources.aws.iam",
    "heat.engine.resources.aws.s3",
)


class Refused(ModuleNotFoundError):
    """A part of Heat that is not loaded here."""


class Finder(MetaPathFinder, Loader):
    """Finds ``heat`` and all below it, before Python's own way does."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,  # noqa: ARG002 - Python's signature
    ) -> ModuleSpec | None:
        """Return where a module of Heat comes from; None if it is none of Heat's.

        Raises:
            Refused: it is none that plugins may have here.
        """
        if fullname != PACKAGE and not fullname.startswith(f"{PACKAGE}."):
            return None
        if fullname in OURS:
            return ModuleSpec(fullname, self)
        if fullname in HOLLOW:
            return self._hollow(fullname, path)
        if fullname in PURE or fullname.startswith(SERVICES):
            return PathFinder.find_spec(fullname, path)
        raise Refused(
            f"{fullname} is not loaded here: it is Heat's engine and not part of what its plugins need",
            name=fullname,
        )

    def _hollow(self, fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path)
        if found is None:
            return None
        spec = ModuleSpec(fullname, self, origin=found.origin, is_package=True)
        spec.has_location = True  # it has files beside its modules
        spec.submodule_search_locations = list(found.submodule_search_locations or ())
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make an empty module."""

    def exec_module(self, module: ModuleType) -> None:
        """Put ours in the module's place, if there is one; a hollow package stays empty."""
        ours = OURS.get(module.__name__)
        if ours is not None:
            # Python takes what is in ``sys.modules`` by the end for the module.
            sys.modules[module.__name__] = importlib.import_module(ours)

    def get_data(self, path: str) -> bytes:
        """Return a file that lies in a hollow package, such as what servers are started with."""
        return Path(path).read_bytes()


def install() -> None:
    """Have ``import heat.X`` mean from now on what it means here; doing so twice changes nothing."""
    if not any(isinstance(each, Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, Finder())
