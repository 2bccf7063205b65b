# SPDX-License-Identifier: Apache-2.0
"""From a resource to what it is in the cloud's own console."""

from __future__ import annotations

from contextlib import closing

import pytest

from heatconv.client.http import Client
from tests.page.another import guarded, looking
from tests.page.shop import create, stack_page, until

AT = "https://cloud.example.org/dashboard"
FAKE = "Fake::Cloud::Server"
LINK = ".panel dd a"


@pytest.fixture
def with_console(driver, tmp_path, cloud_url):
    config = f"[api]\nconsole = {AT}/\n"
    with (
        guarded(tmp_path, cloud_url, config) as endpoint,
        looking(driver, endpoint) as page,
        closing(Client(endpoint)) as client,
    ):
        yield page, client


def test_i_want_to_see_my_server_where_the_cloud_shows_it(with_console):
    page, client = with_console
    server = {"type": "OS::Nova::Server", "properties": {"value": "w"}}
    network = {"type": "OS::Neutron::Net", "properties": {"value": "n"}}
    odd = {"type": "OS::Neutron::Port", "external_id": "../../auth/logout/?next=//evil.example.org"}
    up = {"type": "OS::Neutron::Port", "external_id": ".."}
    word = {"type": "OS::Heat::RandomString"}
    resources = {"server": server, "network": network, "odd": odd, "up": up, "word": word}
    registry = dict.fromkeys(["OS::Nova::Server", "OS::Neutron::Net", "OS::Neutron::Port"], FAKE)
    create(
        client,
        "shop",
        {"heat_template_version": "2021-04-16", "resources": resources},
        environment={"resource_registry": registry},
    )
    page.wait(lambda: client.show_stack("shop")["stack_status"] != "CREATE_IN_PROGRESS", "it is to end")

    def opened(name):
        stack_page(page, client, "shop", "resources", name)
        page.see(name, ".panel h2")
        page.find(".panel dd code")
        return page.all(LINK)

    def physical(name):
        return client.show_resource("shop", name)["physical_resource_id"]

    (link,) = opened("server")
    assert link.get_attribute("href") == f"{AT}/project/instances/{physical('server')}/"
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert link.get_attribute("target") == "_blank"
    page.keep("in-the-console")
    (link,) = opened("network")
    assert link.get_attribute("href") == f"{AT}/project/networks/{physical('network')}/detail"
    assert opened("word") == [], "the console has no place for it"
    (link,) = opened("odd")
    assert physical("odd").startswith("../..")
    within = link.get_attribute("href").removeprefix(f"{AT}/project/networks/ports/").removesuffix("/detail")
    assert not set(within) & set("/?#"), "an id is a part of an address, and no way to another"
    assert opened("up") == []


def test_where_no_console_is_known_none_is_offered(page, client):
    create(
        client,
        "shop",
        {
            "heat_template_version": "2021-04-16",
            "resources": {"server": {"type": "OS::Nova::Server", "properties": {"value": "w"}}},
        },
        environment={"resource_registry": {"OS::Nova::Server": FAKE}},
    )
    until(page, client, "shop", "CREATE_COMPLETE")
    stack_page(page, client, "shop", "resources", "server")
    page.find(".panel dd code")
    assert page.all(LINK) == []
