# SPDX-License-Identifier: Apache-2.0
"""What a user asks of one stack after the other wish: a seed decides all of it.

A stack has a network with what belongs there, a volume and a server.  A wish changes
some of that in place, or such that it has to be replaced, takes something out or puts
everything back, or has the whole stack deleted.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

Resources = Mapping[str, Mapping[str, Any]]  #: of a template, by name

#: Each resource that may be missing, and those that go with it.
REMOVED = {
    "server": {"server"},
    "volume": {"volume"},
    "interface": {"interface"},
    "router": {"router", "interface"},
    "group": {"group"},
    "port": {"port", "server"},
}
IN_PLACE = ("net", "subnet", "port", "group", "router", "volume", "server")
REPLACED = ("cidr", "hints", "user_data")  #: properties of the subnet, the volume and the server

#: What a user may wish, and how often.
KINDS = {"in place": 6, "replace": 3, "remove": 3, "put back": 3, "delete": 2}


class Wishes:
    """The wishes of one user for one stack; ``counts`` tells how many of each kind there were."""

    def __init__(self, start: str, stack: str, smallest: Mapping[str, Any], larger: str) -> None:
        """Take the seed, the stack's name, the properties of the smallest server, and the next flavor."""
        self.choice = random.Random(f"{start} {stack}")
        self.counts: Counter[str] = Counter()
        self.wanted: Resources | None = None  #: what was wished last; None: that there be no such stack
        self._stack = stack
        self._smallest = smallest
        self._flavors = (smallest["flavor"], larger)
        self._named = self.choice.random() < 0.5  # the user gives names; else heatconv does
        self._missing: set[str] = set()
        self._turns: Counter[str] = Counter()  # how often each resource, or property, was changed

    def next(self) -> Resources | None:
        """Return the next wish: the resources that are to be there, or None for nothing at all."""
        kind = self._kind()
        self.counts[kind] += 1
        match kind:
            case "create":
                self._missing = set() if self.choice.random() < 0.5 else self._some()
            case "in place":
                self._turns.update(self.choice.sample(IN_PLACE, self.choice.randint(1, 3)))
            case "replace":
                self._turns.update(self.choice.sample(REPLACED, self.choice.randint(1, 2)))
            case "remove":
                self._missing |= self._some()
            case "put back":
                self._missing = set()
        self.wanted = None if kind == "delete" else self._resources()
        return self.wanted

    def _kind(self) -> str:
        if self.wanted is None:
            return "create"
        kind = self.choice.choices([*KINDS], [*KINDS.values()])[0]
        return "remove" if kind == "put back" and not self._missing else kind

    def _some(self) -> set[str]:
        return REMOVED[self.choice.choice([*REMOVED])]

    def _resources(self) -> Resources:
        everything = self._everything()
        if "group" in self._missing:
            everything["port"]["properties"].pop("security_groups")
        return {name: each for name, each in everything.items() if name not in self._missing}

    def _everything(self) -> dict[str, dict[str, Any]]:
        net, subnet, group = ({"get_resource": name} for name in ("net", "subnet", "group"))
        ssh = 1000 + self._turns["group"]
        rule = {"protocol": "tcp", "port_range_min": ssh, "port_range_max": ssh}
        return {
            "net": _resource("OS::Neutron::Net", **self._name("net"), admin_state_up=self._is("net")),
            "subnet": _resource(
                "OS::Neutron::Subnet",
                network=net,
                cidr=f"10.{100 + self._turns['cidr'] % 100}.0.0/24",
                enable_dhcp=self._is("subnet"),
            ),
            "port": _resource(
                "OS::Neutron::Port",
                **self._name("port"),
                network=net,
                fixed_ips=[{"subnet": subnet}],
                security_groups=[group],
                admin_state_up=self._is("port"),
            ),
            "group": _resource(
                "OS::Neutron::SecurityGroup", description=str(self._turns["group"]), rules=[rule]
            ),
            "router": _resource("OS::Neutron::Router", admin_state_up=self._is("router")),
            "interface": _resource(
                "OS::Neutron::RouterInterface", router={"get_resource": "router"}, subnet=subnet
            ),
            "volume": _resource(
                "OS::Cinder::Volume",
                **self._name("volume"),
                size=1,
                metadata={"turn": str(self._turns["volume"])},
                scheduler_hints={"turn": str(self._turns["hints"])},
            ),
            "server": _resource(
                "OS::Nova::Server",
                **{**self._smallest, "flavor": self._flavors[self._turns["server"] // 4 % 2]},
                networks=[{"port": {"get_resource": "port"}}],
                metadata={"turn": str(self._turns["server"])},
                user_data=str(self._turns["user_data"]),
                user_data_format="RAW",
            ),
        }

    def _is(self, name: str) -> bool:
        return self._turns[name] % 2 == 0

    def _name(self, resource: str) -> dict[str, str]:
        """Return the name that the user gives, which changes; it begins as one of heatconv's."""
        return {"name": f"{self._stack}-{resource}-{self._turns[resource]}"} if self._named else {}


def _resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"type": kind, "properties": properties}
