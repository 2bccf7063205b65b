# SPDX-License-Identifier: Apache-2.0
"""Who may use which resource types; what has no rule is for everybody.

A name that ends in ``*`` is for all types that begin so.  An operator's policy
file may have rules for more of them.
"""

from __future__ import annotations

from oslo_policy import policy

PREFIX = "resource_types:"

_OPERATORS = (
    "OS::Blazar::Host",
    "OS::Cinder::EncryptedVolumeType",
    "OS::Cinder::QoSAssociation",
    "OS::Cinder::QoSSpecs",
    "OS::Cinder::Quota",
    "OS::Cinder::VolumeType",
    "OS::Keystone::*",
    "OS::Manila::ShareType",
    "OS::Neutron::ProviderNet",
    "OS::Neutron::QoSBandwidthLimitRule",
    "OS::Neutron::QoSDscpMarkingRule",
    "OS::Neutron::QoSMinimumBandwidthRule",
    "OS::Neutron::QoSMinimumPacketRateRule",
    "OS::Neutron::QoSPolicy",
    "OS::Neutron::Quota",
    "OS::Neutron::Segment",
    "OS::Nova::Flavor",
    "OS::Nova::HostAggregate",
    "OS::Nova::Quota",
    "OS::Octavia::AvailabilityZone",
    "OS::Octavia::AvailabilityZoneProfile",
    "OS::Octavia::Flavor",
    "OS::Octavia::FlavorProfile",
    "OS::Octavia::Quota",
)

RULES = [
    policy.RuleDefault(f"{PREFIX}{name}", "rule:project_admin", f"Use {name} in a template.")
    for name in _OPERATORS
]
