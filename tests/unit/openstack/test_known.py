# SPDX-License-Identifier: Apache-2.0
"""An id is asked for once in a while, a name each time; a thread goes on with the clients it has."""

from __future__ import annotations

from dataclasses import replace
from ssl import TLSVersion
from types import SimpleNamespace

import pytest
from keystoneauth1.session import Session
from requests.adapters import HTTPAdapter

from heatconv.openstack import session
from heatconv.openstack.mended.known import remembers_ids, remembers_what_it_got
from heatconv.openstack.session import CloudContext, Known
from heatconv.resources.clients.by_thread import ClientsByThread


class Neutron:
    """As much of a client's plugin as finds ids; it has one network."""

    def __init__(self, login):
        self.context = SimpleNamespace(login=login)
        self.asked = []

    def find(self, _project, _kind, value):
        self.asked.append(value)
        if value not in ("id-1", "front"):
            raise LookupError(value)
        return "id-1"


class Login(SimpleNamespace):
    """As much of a login as is kept with it."""

    def __init__(self):
        super().__init__(known=Known())


@pytest.fixture
def neutron():
    mended = type("Mended", (Neutron,), {})
    remembers_ids(mended, "find")
    return mended


def test_an_id_is_asked_for_once_by_all_plugins_of_a_login(neutron):
    login = Login()
    plugins = [neutron(login), neutron(login)]
    assert [plugin.find("project", "network", "id-1") for plugin in plugins] == ["id-1"] * 2
    assert [plugin.asked for plugin in plugins] == [["id-1"], []]


def test_each_login_asks_for_itself(neutron):
    plugins = [neutron(Login()), neutron(Login())]
    assert [plugin.find("project", "network", "id-1") for plugin in plugins] == ["id-1"] * 2
    assert [plugin.asked for plugin in plugins] == [["id-1"], ["id-1"]]


def test_a_name_and_what_is_not_there_are_asked_for_each_time(neutron):
    plugin = neutron(Login())
    for _ in range(2):
        assert plugin.find("project", "network", "front") == "id-1"
        with pytest.raises(LookupError):
            plugin.find("project", "network", "back")
    assert plugin.asked == ["front", "back"] * 2


def test_an_id_that_was_noted_is_not_asked_for(neutron):
    plugin = neutron(Login())
    plugin.context.login.known.note_id("network", "made here")
    assert plugin.find("project", "network", "made here") == "made here"
    assert plugin.asked == []


def test_a_finder_of_one_kind_of_thing_is_not_told_which():
    class Glance(Neutron):
        def find_image(self, project_id, value):
            return self.find(project_id, "image", value)

    remembers_ids(Glance, "find_image", "images")
    plugin = Glance(Login())
    assert [plugin.find_image("project", "id-1") for _ in range(2)] == ["id-1"] * 2
    assert plugin.asked == ["id-1"]


class Images:
    """As much of a client's plugin as gets images; it has one."""

    def __init__(self, login):
        self.context = SimpleNamespace(login=login)
        self.asked = []
        self.status = "active"

    def get_image(self, value):
        self.asked.append(value)
        return SimpleNamespace(id="id-1", status=self.status)


def test_what_was_got_by_its_id_is_got_once_if_it_stays_as_it_is():
    images = type("Mended", (Images,), {})
    remembers_what_it_got(images, "get_image", lambda image: image.status == "active")
    plugin = images(Login())
    plugin.status = "queued"
    assert [plugin.get_image("id-1").status for _ in range(2)] == ["queued"] * 2
    plugin.status = "active"
    for _ in range(2):
        assert plugin.get_image("id-1").status == "active"
        plugin.get_image("a name")
    assert plugin.asked == ["id-1"] * 3 + ["a name"] * 2
    assert images(Login()).get_image("id-1").status == "active"


def test_an_id_of_one_kind_says_nothing_of_another(neutron):
    plugin = neutron(Login())
    for kind in ("network", "subnet"):
        plugin.find("project", kind, "id-1")
    assert plugin.asked == ["id-1"] * 2


def test_a_thread_goes_on_with_the_clients_of_a_login():
    kept = ClientsByThread()
    first, second = (
        CloudContext(project_id="project", login=Login(), clients_by_thread=kept) for _ in range(2)
    )
    assert replace(first).clients is first.clients
    assert second.clients is not first.clients
    assert second.clients.context is second


def test_as_many_connections_are_kept_as_there_are_threads_and_tls_is_as_it_was():
    plain = Session(tls_min_version="1.3")
    session.keep_connections(plain)
    adapter = plain.session.get_adapter("https://cloud")
    assert isinstance(adapter, HTTPAdapter)
    kept = adapter.poolmanager.connection_pool_kw
    assert kept["maxsize"] == session.CONNECTIONS
    assert kept["ssl_context"].minimum_version is TLSVersion.TLSv1_3
