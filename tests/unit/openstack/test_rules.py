# SPDX-License-Identifier: Apache-2.0
"""A security group takes away the rules that were its own, and not those that are resources."""

from __future__ import annotations

from types import SimpleNamespace

from heatconv.openstack.mended.rules import SecurityGroup

EGRESS = {"direction": "egress", "ethertype": "IPv4"}


class Plain:
    """As much of Heat's security group as an update of the rules takes."""

    default_egress_rules = (EGRESS,)
    resource_id = "group"

    def _update_rules(self, rules):
        self.kept = rules


class Group(SecurityGroup, Plain):
    """A group of which Neutron lists some rules."""

    resource_id = "group"

    def __init__(self, *there):
        self._there = there

    def client(self, *_args, **_kwargs):
        def show_security_group(_group):
            return {"security_group": {"security_group_rules": self._there}}

        return SimpleNamespace(show_security_group=show_security_group)

    def _update_rules(self, rules):
        super()._update_rules(rules)


def rule(port, description):
    return {"direction": "ingress", "port_range_min": port, "description": description}


def test_rules_that_are_resources_stay():
    others = rule(80, "heatconv: stack-rule-abc")
    group = Group(rule(22, None), others, rule(23, "by hand"))
    wanted = {"direction": "ingress", "port_range_min": 443}
    group._update_rules([wanted])
    assert group.kept == [wanted, EGRESS, others]


def test_a_resource_that_lets_something_out_takes_nothing_from_the_group():
    others = {"direction": "egress", "description": "heatconv: stack-rule-abc"}
    group = Group(others)
    group._update_rules(None)
    assert group.kept == [EGRESS, others]
    group._update_rules([{"direction": "egress", "protocol": "tcp"}])
    assert group.kept == [{"direction": "egress", "protocol": "tcp"}, others]
