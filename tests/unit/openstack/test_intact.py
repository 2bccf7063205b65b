# SPDX-License-Identifier: Apache-2.0
"""A server is intact if the ports that it was given are its own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from heatconv.openstack.mended.server import Server


class Plain(Server):
    """A server of two ports, and a third that was made for it."""

    properties = {"networks": [{"port": "p1"}, {"network": "n"}, {"port": "p2"}]}  # type: ignore[assignment]  # values are all it needs

    def __init__(self, owners):
        self._owners = owners
        self._id = "server"

    @property
    def resource_id(self):
        return self._id

    def _data_get_ports(self):
        return [{"id": "p3"}]

    def client(self, *_args, **_kwargs):
        def list_ports(*, id):
            return {"ports": [{"id": each, "device_id": self._owners[each]} for each in id]}

        return SimpleNamespace(list_ports=list_ports)


@pytest.mark.parametrize("robbed", [None, "p1", "p2", "p3"])
def test_it_has_all_its_ports(robbed):
    owners = dict.fromkeys(("p1", "p2", "p3"), "server")
    if robbed is not None:
        owners[robbed] = ""
    assert Plain(owners).is_intact() == (robbed is None)
