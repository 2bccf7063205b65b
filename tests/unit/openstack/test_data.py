# SPDX-License-Identifier: Apache-2.0
"""Types of a cloud that hold data."""

from __future__ import annotations

from heatconv.openstack.data import HOLDERS, marked
from heatconv.openstack.stand_ins.resource import Resource
from heatconv.openstack.types import MODULES


class Volume(Resource):
    """As Heat has it."""


def test_each_of_them_is_a_type():
    assert {name for names in MODULES.values() for name in names} >= HOLDERS


def test_those_are_marked_and_no_others():
    assert marked("OS::Cinder::Volume", Volume).holds_data
    assert marked("OS::Nova::Server", Volume) is Volume
    assert not Volume.holds_data
