# SPDX-License-Identifier: Apache-2.0
"""What services publish, in the forms that they have, and what is read in it."""

from __future__ import annotations

import pytest

from heatconv.observer.notifications import Notifications
from heatconv.openstack import news
from heatconv.resources.registry import Registry

LEGACY = {
    "tenant_id": "6c3f",
    "user_id": "1a2b",
    "instance_id": "it",
    "display_name": "web",
    "instance_type": "m1.tiny",
    "state": "active",
    "state_description": "",
    "host": "compute",
    "metadata": {},
    "fixed_ips": [],
}
VERSIONED = {
    "nova_object.name": "InstanceCreatePayload",
    "nova_object.namespace": "nova",
    "nova_object.version": "1.14",
    "nova_object.data": {
        "uuid": "it",
        "tenant_id": "6c3f",
        "display_name": "web",
        "state": "active",
        "flavor": {"nova_object.data": {"name": "m1.tiny"}},
    },
}
VOLUME = {"tenant_id": "6c3f", "volume_id": "it", "display_name": "data", "status": "available", "size": 1}
PORT = {"port": {"id": "it", "name": "web", "admin_state_up": False, "network_id": "net"}}

READ = [
    ("compute.instance.create.end", LEGACY),
    ("compute.instance.create.error", LEGACY),
    ("compute.instance.delete.end", LEGACY | {"state": "deleted"}),
    ("compute.instance.finish_resize.end", LEGACY),
    ("instance.create.end", VERSIONED),
    ("instance.delete.end", VERSIONED),
    ("instance.resize_confirm.end", VERSIONED),
    ("volume.create.end", VOLUME),
    ("volume.delete.end", VOLUME | {"status": "deleting"}),
    ("volume.attach.end", VOLUME),
    ("port.update.end", PORT),
    ("port.delete.end", {"port_id": "it", "port": PORT["port"]}),
    ("port.delete.end", {"port_id": "it"}),
    ("security_group_rule.delete.end", {"security_group_rule_id": "it"}),
    ("policy.update.end", {"policy": {"id": "it", "name": "slow"}}),
    ("identity.project.deleted", {"resource_info": "it"}),
    (
        "identity.user.updated",
        {"typeURI": "http://schemas.dmtf.org/cloud/audit/1.0/event", "resource_info": "it"},
    ),
]
LEFT = [
    ("compute.instance.update", LEGACY),
    ("compute.instance.create.start", LEGACY),
    ("instance.update", VERSIONED),
    ("port.create.end", PORT),
    ("port.update.start", PORT),
    ("volume.create.start", VOLUME),
    ("compute.metrics.update", {}),
]


@pytest.fixture
def heard():
    """Return a function that lets a notification be heard, and returns what is looked at of it."""
    looked = []

    def look_at(physical_ids, *, project_id):
        looked.extend(physical_ids)
        return ()

    registry = Registry({})
    registry.hear(news.READERS)
    ear = Notifications(look_at, registry)

    def hear(event_type, payload):
        ear.hear(event_type, payload)
        ear.look()
        return looked

    return hear


@pytest.mark.parametrize(("event_type", "payload"), READ)
def test_what_may_be_at_its_end_or_otherwise_is_looked_at(heard, event_type, payload):
    assert heard(event_type, payload) == ["it"]


@pytest.mark.parametrize(("event_type", "payload"), LEFT)
def test_steps_in_between_are_not(heard, event_type, payload):
    assert heard(event_type, payload) == []


@pytest.mark.parametrize("event_type", ["port.update.end", "volume.delete.end", "instance.create.end"])
@pytest.mark.parametrize("payload", [None, {}, [], {"port": None}, {"nova_object.data": {}}])
def test_what_has_another_form_is_dropped(heard, event_type, payload):
    assert heard(event_type, payload) == []
