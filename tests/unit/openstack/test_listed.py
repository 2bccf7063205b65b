# SPDX-License-Identifier: Apache-2.0
"""What stands around a plugin that waits, and looks, by itself."""

from __future__ import annotations

import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from heatconv.model.definition import Definition
from heatconv.model.states import Action
from heatconv.openstack import listed
from heatconv.openstack.kinds import KINDS, lines
from heatconv.openstack.listings import Listings
from heatconv.openstack.stand_ins.resource import Resource
from heatconv.openstack.types import MODULES
from heatconv.resources.exception import PollDelay, ResourceInError
from heatconv.resources.facts import Incarnation, StackFacts
from heatconv.resources.properties import Schema
from tests.driving import drive

PAGE = Path(__file__).parents[3] / "doc/source/howto/use-your-cloud.rst"


class NotThere(Exception):
    http_status = 404


class Nova:
    """As much of Nova as servers take; it counts what it is asked."""

    def __init__(self):
        self.there = {}
        self.shown, self.listed = [], []
        self.client = SimpleNamespace(get=self.get)
        self.servers = SimpleNamespace(get=self.show)
        self.flavors = SimpleNamespace(list=lambda is_public: [SimpleNamespace(id="1", name="tiny")])

    def get(self, url):
        self.listed.append(url)
        wanted = url.partition("status=")[2]
        return None, {"servers": [each for each in self.there.values() if wanted in ("", each["status"])]}

    def show(self, server_id):
        self.shown.append(server_id)
        if server_id not in self.there:
            raise NotThere
        return SimpleNamespace(to_dict=lambda: self.there[server_id], **self.there[server_id])


class Server(Resource):
    """A server, as a plugin that knows nothing of others has it."""

    entity = "servers"
    default_client_name = "nova"
    properties_schema = {
        "name": Schema(Schema.STRING),
        "flavor": Schema(Schema.STRING),
        "metadata": Schema(Schema.MAP),
        "user_data": Schema(Schema.STRING),
    }

    def check_create_complete(self, token):
        return self.nova().servers.get(token).status == "ACTIVE"


@pytest.fixture
def nova():
    return Nova()


@pytest.fixture
def now(monkeypatch):
    """Return a clock that a test moves."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(listed, "LISTINGS", Listings(lambda: clock.now))
    return clock


@pytest.fixture
def server(nova):
    """Return a function that makes the resource of a server which is there."""
    type_ = listed.listed("OS::Nova::Server", Server)
    plugin = SimpleNamespace(is_not_found=lambda error: isinstance(error, NotThere))
    clients = SimpleNamespace(client=lambda _name, version=None: nova, client_plugin=lambda _name: plugin)

    def make(name, status="BUILD", /, **properties):
        nova.there[name] = {
            "id": name,
            "status": status,
            "name": name,
            "flavor": {"original_name": "tiny"},
            "metadata": {"role": "web", "added": "by others"},
        }
        context = SimpleNamespace(clients=clients, project_id="p", user_id="u")
        facts = StackFacts(id="stack", name="stack", project_id="p", context=context)
        definition = Definition(name=name, type="OS::Nova::Server", properties=properties)
        made = type_(name, definition, facts)
        drive(made).attach(Incarnation(id=f"row-{name}", physical_id=name), None)
        return made

    return make


def look(resource):
    """Return whether a create is complete, None if it is seen to go on."""
    try:
        return drive(resource).is_complete(Action.CREATE, resource.resource_id)
    except PollDelay:
        return None


def test_servers_that_build_are_seen_in_one_listing_and_end_by_their_own_look(nova, server, now):
    servers = [server(f"server-{number}") for number in range(50)]
    assert [look(each) for each in servers] == [None] * 50
    assert (len(nova.shown), len(nova.listed)) == (0, 0)
    for _ in range(4):
        now.now += 1
        for each in servers:
            look(each)
    assert (len(nova.shown), len(nova.listed)) == (1, 4)
    nova.there["server-7"]["status"] = "ACTIVE"
    now.now += 1
    looked = [look(each) for each in servers]
    assert looked.count(True) == 1
    assert looked[7] is True
    assert nova.shown == ["server-0", "server-7"]


def test_who_waits_long_is_asked_less(server, now):
    servers = [server("one"), server("two")]
    pauses = []
    for _ in range(300):
        for each in servers:
            try:
                drive(each).is_complete(Action.CREATE, each.resource_id)
            except PollDelay as delay:
                pauses.append(delay.period)
        now.now += pauses[-1]
    assert (pauses[1], max(pauses)) == (1, 10)


def test_who_is_asked_before_it_is_time_was_woken_and_looks(nova, server, now):
    servers = [server("one"), server("two")]
    for each in servers:
        look(each)
    now.now += 1
    nova.there["one"]["status"] = "ACTIVE"
    now.now -= 0.5
    assert look(servers[0]) is True


def test_at_last_the_plugin_looks_whatever_is_listed(nova, server, now):
    servers = [server("one"), server("two")]
    for _ in range(1300):
        for each in servers:
            look(each)
        now.now += 10
    assert 40 < len(nova.shown) < 60


def test_other_actions_are_the_plugins_alone(nova, server):
    assert drive(server("one")).is_complete(Action.UPDATE, None) is True
    assert nova.listed == []


def test_many_are_looked_at_with_one_listing_and_what_it_lacks_by_itself(nova, server):
    servers = [server(f"server-{number}", "ACTIVE", name=f"server-{number}") for number in range(300)]
    del nova.there["server-1"]
    nova.there["server-2"]["status"] = "ERROR"
    nova.there["server-3"]["name"] = "renamed"
    observed = type(servers[0]).observe_many(servers)
    assert observed["row-server-1"] is None
    assert isinstance(observed["row-server-2"], ResourceInError)
    assert drive(servers[3]).differences(observed["row-server-3"]) == {"name": "renamed"}
    well = [each for number, each in enumerate(servers) if number not in (1, 2, 3)]
    assert [drive(each).differences(observed[each.uuid]) for each in well] == [{}] * 297
    assert (len(nova.listed), nova.shown) == (1, ["server-1"])


@pytest.mark.parametrize(
    ("given", "different"),
    [
        ({"flavor": "tiny"}, {}),
        ({"flavor": "1"}, {}),
        ({"flavor": "large"}, {"flavor": "tiny"}),
        ({"metadata": {"role": "web"}}, {}),
        ({"metadata": {"role": "db"}}, {"metadata": {"role": "web", "added": "by others"}}),
        ({"user_data": "anything"}, {}),
        ({}, {}),
    ],
)
def test_what_counts_as_drift_is_what_was_given_and_its_service_tells(server, given, different):
    resource = server("one", "ACTIVE", **given)
    live = type(resource).observe_many([resource])["row-one"]
    assert drive(resource).differences(live) == different


def test_a_flavor_that_is_known_by_one_word_only_is_not_compared(server):
    resource = server("one", "ACTIVE", flavor="1")
    assert "flavor" not in drive(resource).observe()


def test_the_types_are_ones_that_a_cloud_has():
    assert KINDS.keys() <= {name for names in MODULES.values() for name in names}


def test_the_page_names_each_type_and_what_counts_as_drift():
    rows = re.findall(r"\* - ``([\w:]+)``\n +-( .*(?:\n       .*)?)?\n(?! +-)", PAGE.read_text())
    assert [(name, " ".join(properties.split())) for name, properties in rows] == list(lines())
