# SPDX-License-Identifier: Apache-2.0
"""What services publish on a bus is heard by the engines, and healed long before its turn."""

from __future__ import annotations

import json
import uuid
from urllib.parse import urlsplit

import amqp
import pytest

from heatconv.client.http import Client
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.templates import Template, attr, thing
from tests.functional.waiting import until

TEMPLATE = Template(A=thing("a"), B=thing(attr("A"), uses=["A"]), C=thing("c", uses=["B"]))
NEVER = 30_000_000  #: seconds between two looks


class Web:
    """A stack on running daemons, whose turn to be looked at does not come."""

    def __init__(self, daemons):
        self.client = Client(daemons.endpoint)
        self.cloud = CloudControl(daemons.cloud_url)
        self.name = f"web-{uuid.uuid4().hex[:8]}"
        policy = {"policy": "heal", "interval": NEVER}
        self.client.create_stack({"stack_name": self.name, "template": TEMPLATE.hot(), "convergence": policy})
        self.until(lambda: self.client.show_stack(self.name)["stack_status"] == "CREATE_COMPLETE")

    def objects(self):
        return {found["owner"].rpartition("/")[2]: found for found in self.cloud.owned(f"{self.name}/")}

    def until(self, holds):
        until(holds, lambda: self.client.show_drift(self.name))

    def is_as_wanted(self):
        found = self.cloud.owned(f"{self.name}/")
        values = {each["owner"].rpartition("/")[2]: each["properties"]["value"] for each in found}
        return (
            len(found) == 3
            and values == {"A": "a", "B": "a", "C": "c"}
            and {each["status"] for each in found} == {"ACTIVE"}
        )


def notification(event_type, payload):
    """Return a notification as services send it."""
    message = {"event_type": event_type, "payload": payload, "priority": "INFO", "publisher_id": "it"}
    return json.dumps({"oslo.version": "2.0", "oslo.message": json.dumps(message)})


def publish(rabbit_url, *bodies):
    """Send messages to whoever listens to notifications."""
    address = urlsplit(rabbit_url)
    with amqp.Connection(
        f"{address.hostname}:{address.port or 5672}",
        userid=address.username,
        password=address.password,
        virtual_host=address.path[1:],
    ) as connection:
        channel = connection.channel()
        for body in bodies:
            message = amqp.Message(body, content_type="application/json", content_encoding="utf-8")
            channel.basic_publish(message, "openstack", "notifications.info")


@pytest.fixture
def daemons(run_daemons, fresh_database, rabbit_url):
    return run_daemons(
        database_url=fresh_database("postgresql"),
        transport_url=rabbit_url,
        engines=2,
        workers=1,
        options={"observer": {"notification_topics": "notifications"}},
        notify=True,
    )


def test_what_a_service_tells_of_is_healed_and_each_thing_is_there_once(daemons, rabbit_url):
    web = Web(daemons)
    before = web.objects()

    publish(
        rabbit_url,
        "not even JSON",
        "[]",
        notification("object.delete.end", "no payload at all"),
        notification("object.delete.end", {"object_id": 17}),
        notification(["object.delete.end"], {}),
        notification("compute.instance.delete.end", {"instance_id": "unknown"}),
        notification("object.delete.end", {"object_id": "unknown"}),
    )
    web.cloud.meddle(before["A"]["id"], {"value": "drifted"})
    web.cloud.spoil(before["B"]["id"])
    web.cloud.vanish(before["C"]["id"])

    web.until(web.is_as_wanted)
    after = web.objects()
    assert after["A"]["id"] == before["A"]["id"]
    assert {after[name]["id"] for name in "BC"}.isdisjoint(before[name]["id"] for name in "BC")
