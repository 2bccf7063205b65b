# SPDX-License-Identifier: Apache-2.0
"""Services refuse, are busy, break off, are away: what would have worked works, all else is told at once."""

from __future__ import annotations

import itertools
import json
import secrets
import time
from collections import Counter

import pytest

from heatconv.client.transport import ClientError
from tests.cloud.conftest import PATIENCE, Stack
from tests.cloud.faulty import CUT, SILENT, Fault, Faulty

NET = {"net": {"type": "OS::Neutron::Net"}}
AWAY = 12.0  #: seconds
MANY = 20


@pytest.fixture(scope="module")
def faulty():
    """Return what is between heatconv and the services."""
    with Faulty() as proxy:
        yield proxy


@pytest.fixture(scope="module")
def behind(faulty, login, run, tmp_path_factory):
    """Return a heatconv-all that reaches the services through that, and waits for no answer for long."""
    impatient = tmp_path_factory.mktemp("conf") / "heatconv.conf"
    impatient.write_text("[DEFAULT]\nservice_timeout = 5\n")
    return _behind(faulty, run, "mine", "--config-file", str(impatient))


@pytest.fixture(scope="module")
def administrators(faulty, login, run):
    """Return one that acts for an administrator."""
    auth = login.auth | {"user_id": login.operator.id}
    login.write(administrators={"auth": auth, "region_name": login.admin.config.region_name})
    return _behind(faulty, run, "administrators")


def _behind(faulty, run, name, *more):
    process = run(name, *more, environment={"http_proxy": faulty.url, "no_proxy": ""})
    return process.wait_for(r"heatconv is up: (\S+)")[1]


@pytest.fixture
def stack(behind, faulty):
    faulty.mend()
    made = Stack(behind)
    yield made
    faulty.mend()
    made.delete()


def networks(cloud):
    return list(cloud.network.networks(project_id=cloud.current_project_id))


def states(stack):
    """Return the states that resources went through."""
    events = stack.client.list_events(stack.id)
    return Counter(each["resource_status"] for each in events if each["resource_name"] != stack.name)


def test_a_token_that_is_not_valid_any_more_is_replaced_by_another(stack, faulty, cloud):
    faulty.fail(Fault(r"POST \S*/networks$", status=401))
    stack.create(NET)
    assert [each.status for each in faulty.matching(r"POST \S*/networks$")] == [401, 201]
    assert faulty.count(r"POST \S*/auth/tokens$") == 1
    assert len(networks(cloud)) == 1
    assert states(stack) == {"CREATE_IN_PROGRESS": 1, "CREATE_COMPLETE": 1}


def test_a_quota_is_told_at_once_in_the_words_of_the_service(stack, faulty, admin, cloud, smallest):
    admin.set_compute_quotas(cloud.current_project_id, instances=0)
    try:
        server = {"type": "OS::Nova::Server", "properties": smallest}
        stack.create({"server": server}, until="CREATE_FAILED")
    finally:
        admin.delete_compute_quotas(cloud.current_project_id)
    assert "resources.server: Quota exceeded for instances: Requested 1" in stack.reason()
    assert faulty.count(r"POST \S*/servers$") == 1


def test_a_quota_of_networks_is_told_at_once_too(stack, faulty, admin, cloud):
    admin.set_network_quotas(cloud.current_project_id, networks=0)
    try:
        stack.create(NET, until="CREATE_FAILED")
    finally:
        admin.delete_network_quotas(cloud.current_project_id)
    assert "resources.net: Quota exceeded for resources: ['network']" in stack.reason()
    assert faulty.count(r"POST \S*/networks$") == 1


@pytest.mark.parametrize("kind", ["group", "net", "subnet"])
def test_what_is_in_use_waits_and_says_by_what(stack, faulty, cloud, kind):
    subnet = {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "net"}, "cidr": "10.13.0.0/24"},
    }
    stack.create(NET | {"subnet": subnet, "group": {"type": "OS::Neutron::SecurityGroup"}})
    net = cloud.network.create_network(name="elsewhere") if kind == "group" else None
    strange = cloud.network.create_port(
        network_id=net.id if net else stack.id_of("net"),
        security_groups=[stack.id_of("group")] if kind == "group" else [],
        **({"fixed_ips": []} if kind == "net" else {}),
    )
    try:
        stack.client.delete_stack(stack.name)
        deadline = time.monotonic() + PATIENCE
        while strange.id not in said(stack, kind):
            assert time.monotonic() < deadline, said(stack, kind)
        assert stack.state() == "DELETE_IN_PROGRESS"
    finally:
        cloud.network.delete_port(strange)
        if net:
            cloud.network.delete_network(net)
    stack.wait_for("gone")


def said(stack, resource):
    return stack.client.show_resource(stack.id, resource)["resource_status_reason"]


@pytest.mark.parametrize("type_name", ["Project", "Group", "Role", "User", "Domain"])
def test_a_name_that_is_taken_in_keystone_is_told_at_once(administrators, faulty, type_name):
    taken = f"taken-{secrets.token_hex(4)}"
    of_a_domain = {} if type_name in ("Domain", "Role") else {"domain": "default"}
    resource = {"type": f"OS::Keystone::{type_name}", "properties": {"name": taken} | of_a_domain}
    first, second = Stack(administrators), Stack(administrators)
    first.create({"it": resource})
    faulty.mend()
    try:
        second.create({"it": resource}, until="CREATE_FAILED")
        assert "409" in second.reason()
        asked = faulty.matching(rf"POST \S*/{type_name.lower()}s$")
        assert [each.status for each in asked] == [409]
    finally:
        second.delete()
        first.delete()


@pytest.mark.parametrize("status", [429, 503])
def test_a_service_that_says_when_to_come_back_is_taken_at_its_word(stack, faulty, status):
    faulty.fail(Fault(r"POST \S*/networks$", times=2, status=status, headers={"Retry-After": "3"}))
    stack.create(NET)
    asked = faulty.matching(r"POST \S*/networks$")
    assert [each.status for each in asked] == [status, status, 201]
    assert all(later.at - sooner.at >= 3 for sooner, later in itertools.pairwise(asked))


@pytest.mark.parametrize("status", [CUT, SILENT], ids=["cut", "silent"])
@pytest.mark.parametrize("carried_out", [False, True], ids=["not carried out", "carried out"])
def test_an_answer_that_never_comes_leaves_one(stack, faulty, cloud, carried_out, status):
    faulty.fail(Fault(r"POST \S*/networks$", status=status, carried_out=carried_out))
    stack.create(NET)
    assert faulty.matching(r"POST \S*/networks$")[0].status == status
    assert len(networks(cloud)) == 1
    assert states(stack) == {"CREATE_IN_PROGRESS": 1, "CREATE_COMPLETE": 1}


def test_who_asks_about_a_template_is_told_that_a_service_is_silent(stack, faulty, smallest):
    faulty.fail(Fault(r"GET \S*/flavors", times=None, status=SILENT))
    server = {"type": "OS::Nova::Server", "properties": smallest}
    with pytest.raises(ClientError) as refused:
        stack.begin({"server": server})
    assert refused.value.status == 503


def test_a_service_that_is_away_is_waited_for_and_not_run_down_when_it_is_back(stack, faulty, cloud):
    many = {f"net{number}": {"type": "OS::Neutron::Net"} for number in range(MANY)}
    away = r" \S*/v2.0/"
    faulty.fail(Fault(away, times=None))
    stack.id = stack.client.create_stack(
        {
            "stack_name": stack.name,
            "template": json.dumps({"heat_template_version": "2021-04-16", "resources": many}),
        }
    )
    began = time.monotonic()
    while faulty.count(away) == 0 or time.monotonic() < began + AWAY:
        assert stack.state() == "CREATE_IN_PROGRESS"
        time.sleep(0.1)
    faulty.stop_failing()
    stack.wait_for("CREATE_COMPLETE")
    assert states(stack) == {"CREATE_IN_PROGRESS": MANY, "CREATE_COMPLETE": MANY}
    assert len(networks(cloud)) == MANY
    asked = faulty.matching(away)
    made = [each.at for each in asked if (each.method, each.status) == ("POST", 201)]
    assert max(Counter(int(at) for at in made).values()) < MANY
