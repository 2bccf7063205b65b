# SPDX-License-Identifier: Apache-2.0
"""Which of Heat's types make what holds data of users, for guards: Heat itself has no word for it.

A server is not among them.  What is to outlive one belongs on a volume, and a rule that is about all
servers would be in the way of each new image.
"""

from __future__ import annotations

from heatconv.openstack.stand_ins.resource import Resource

HOLDERS = frozenset(
    {
        "AWS::EC2::Volume",
        "AWS::S3::Bucket",
        "OS::Barbican::Order",
        "OS::Barbican::Secret",
        "OS::Cinder::Volume",
        "OS::Glance::Image",
        "OS::Glance::WebImage",
        "OS::Manila::Share",
        "OS::Swift::Container",
        "OS::Trove::Cluster",
        "OS::Trove::Instance",
    }
)


def marked(type_name: str, plain: type[Resource]) -> type[Resource]:
    """Return a type, with ``holds_data`` if it does."""
    if type_name not in HOLDERS:
        return plain
    more = {"holds_data": True, "__doc__": plain.__doc__, "__module__": plain.__module__}
    return type(plain.__name__, (plain,), more)
