# SPDX-License-Identifier: Apache-2.0
"""Daemons act for each stack's user, in its project, by what the user has delegated, and by nothing else."""

from __future__ import annotations

import secrets
from types import SimpleNamespace

import openstack
import pytest

from heatconv.client.http import ClientError
from heatconv.db.convergence import delegations
from heatconv.model.delegation import Delegation
from heatconv.model.ids import new_id
from heatconv.openstack.keystone import MARK
from tests.cloud.conftest import Stack
from tests.cloud.operated import operated

NET = {"type": "OS::Neutron::Net"}
NETS = {
    "net": NET,
    "subnet": {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "net"}, "cidr": "10.1.0.0/24"},
    },
    "port": {"type": "OS::Neutron::Port", "properties": {"network": {"get_resource": "net"}}},
}


class User:
    """An ordinary user of a project."""

    def __init__(self, admin, project, name):
        self.password = secrets.token_urlsafe()
        identity = admin.identity
        self._admin = admin
        self.project_id = project.id
        self.user = identity.create_user(name=name, password=self.password, domain_id="default")
        self.id = self.user.id
        self._role = identity.find_role("member")
        self.join()

    def join(self):
        self._admin.identity.assign_project_role_to_user(self.project_id, self.user, self._role)

    def leave(self):
        self._admin.identity.unassign_project_role_from_user(self.project_id, self.user, self._role)

    def connect(self):
        auth = {
            "auth_url": self._admin.config.auth["auth_url"],
            "user_id": self.id,
            "password": self.password,
            "project_id": self.project_id,
        }
        region = self._admin.config.region_name
        return openstack.connect(auth=auth, region_name=region, load_envvars=False, load_yaml_config=False)

    def token(self):
        """Return a token of the user's, which is the one to be revoked."""
        self._token = self.connect().auth_token
        return self._token

    def revoke(self):
        url = f"{self._admin.config.auth['auth_url']}/auth/tokens"
        self._admin.session.delete(url, headers={"X-Subject-Token": self._token})


@pytest.fixture(scope="module")
def here(admin, tmp_path_factory):
    """Return the daemons; in the end nothing that is secret was said or written anywhere."""
    with operated(tmp_path_factory.mktemp("operated"), admin) as running:
        yield running
        kept = {"logs": running.daemons.logs(), "database": running.dump(), "bus": running.heard()}
        assert "create_stack" in kept["bus"]
        assert "user_creds" not in kept["logs"]
        found = [
            (where, secret) for where, text in kept.items() for secret in running.secrets if secret in text
        ]
        assert found == []
        assert "Traceback" not in kept["logs"]


@pytest.fixture(scope="module")
def people(admin, here):
    """Return users of projects: two of one, one of another."""
    identity = admin.identity
    name = f"heatconv-{secrets.token_hex(4)}"
    projects = [identity.create_project(name=f"{name}-{each}", domain_id="default") for each in "ab"]
    made = [User(admin, projects[0], f"{name}-{each}") for each in ("alice", "ann")]
    made.append(User(admin, projects[1], f"{name}-bob"))
    yield made
    for user in made:
        identity.delete_user(user.id)
    for project in projects:
        identity.delete_project(project)


@pytest.fixture
def alice(people):
    return people[0]


@pytest.fixture
def ann(people):
    return people[1]


@pytest.fixture
def bob(people):
    return people[2]


@pytest.fixture
def stack_of(here):
    """Return a function that makes the stack of a user, which is not there yet and is gone in the end."""
    made = []

    def new(user):
        stack = Stack(here.root)
        stack.client = here.client(user)
        made.append((stack, user))
        return stack

    yield new
    for stack, _user in made:
        stack.delete()
    for _stack, user in made:
        here.await_no_trusts(user)


def test_what_a_stack_has_is_its_users_and_nobody_elses(here, alice, bob, stack_of, smallest, admin):
    server = {
        "type": "OS::Nova::Server",
        "properties": smallest | {"networks": [{"port": {"get_resource": "port"}}]},
    }
    stacks = {user: stack_of(user) for user in (alice, bob)}
    for user, stack in stacks.items():
        stack.create(NETS | {"server": server} if user is alice else NETS)
    for user, stack in stacks.items():
        assert admin.network.get_network(stack.id_of("net")).project_id == user.project_id
        assert admin.network.get_port(stack.id_of("port")).project_id == user.project_id
        assert [trust.project_id for trust in here.trusts(user)] == [user.project_id]
    server = admin.compute.get_server(stacks[alice].id_of("server"))
    assert (server.project_id, server.user_id) == (alice.project_id, alice.id)
    with pytest.raises(ClientError, match="could not be found"):
        stacks[bob].client.show_stack(stacks[alice].id)
    for user, stack in stacks.items():
        stack.delete()
        here.await_no_trusts(user)
    assert [*admin.network.networks(project_id=alice.project_id)] == []


def test_a_token_that_is_revoked_is_not_missed(here, alice, stack_of, admin):
    stack = stack_of(alice)
    template = {"heat_template_version": "2021-04-16", "resources": NETS}
    stack.id = stack.client.create_stack({"stack_name": stack.name, "template": template})
    alice.revoke()
    stack.client = here.client(alice)
    stack.wait_for("CREATE_COMPLETE")
    for number in (1, 2):
        here.daemons.kill(f"worker-{number}")
        here.daemons.start(f"worker-{number}")
    stack.update({**NETS, "another": NET})
    assert len(here.trusts(alice)) == 1


def test_who_comes_after_a_user_that_is_gone_renews_it(here, alice, ann, stack_of):
    stack = stack_of(alice)
    stack.create({"net": NET})
    alice.leave()
    try:
        stack.client = here.client(ann)
        stack.update({"net": NET, "another": NET})
        assert [trust.project_id for trust in here.trusts(ann)] == [ann.project_id]
        stack.delete()
        here.await_no_trusts(ann)
        # Without a role nobody can act by it, not even to delete it.
        (left,) = here.trusts(alice)
    finally:
        alice.join()
    alice.connect().identity.delete_trust(left)


def test_nested_stacks_act_by_what_their_root_has(here, alice, stack_of, admin):
    stack = stack_of(alice)
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 2, "resource_def": NET}}
    stack.create({"group": group})
    assert len(here.trusts(alice)) == 1
    assert len([*admin.network.networks(project_id=alice.project_id)]) == 2
    stack.delete()
    here.await_no_trusts(alice)


def test_a_template_is_looked_at_as_who_asks(here, alice, bob, stack_of):
    stack = stack_of(alice)
    stack.create({"net": NET})
    resources = {"port": {"type": "OS::Neutron::Port", "properties": {"network": stack.id_of("net")}}}
    body = {"stack_name": "seen", "template": {"heat_template_version": "2021-04-16", "resources": resources}}
    assert here.client(alice).preview_create(body)["resources"]
    assert "network" in stack_of(bob).refusal(resources)
    assert here.trusts(bob) == []


def test_a_trust_that_nobody_could_write_down_is_given_back(here, alice):
    lost = Delegation(
        id=new_id(), stack_id=new_id(), project_id=alice.project_id, user_id=alice.id, method="trusts"
    )
    delegations.intend(here.database, lost)
    trust = {
        "trustor_user_id": alice.id,
        "trustee_user_id": here.trustee.id,
        "project_id": alice.project_id,
        "impersonation": True,
        "roles": [{"name": "member"}],
        MARK: lost.id,
    }
    alice.connect().identity.post("/OS-TRUST/trusts", json={"trust": trust}).raise_for_status()
    assert len(here.trusts(alice)) == 1
    delegations.give_up(here.database, lost.id)
    here.await_no_trusts(alice)


def test_a_stack_that_another_stack_makes_has_a_trust_that_is_passed_on(here, alice, stack_of, admin):
    """By the token of a stack a template is looked at, and a stack made, as by a user's own."""
    here.daemons.kill("engine-1")
    here.daemons.configure(allow_trusts_redelegation="True")
    here.daemons.start("engine-1")
    here.daemons.await_up("engine-1")
    outer = stack_of(alice)
    outer.create({"net": NET})
    (trust,) = here.trusts(alice)
    auth = {
        "auth_url": admin.config.auth["auth_url"],
        "user_id": here.trustee.id,
        "password": here.password,
        "trust_id": trust.id,
    }
    region = admin.config.region_name
    worker = openstack.connect(auth=auth, region_name=region, load_envvars=False, load_yaml_config=False)
    by_trust = {"project_id": alice.project_id, "password": here.password, "token": worker.authorize}
    inner = stack_of(SimpleNamespace(id=alice.id, **by_trust))
    port = {"type": "OS::Neutron::Port", "properties": {"network": outer.id_of("net")}}
    inner.create({"port": port})
    assert admin.network.get_port(inner.id_of("port")).project_id == alice.project_id
    assert len(here.trusts(alice)) == 2
    inner.delete()
    here.await_gone(lambda: [each for each in here.trusts(alice) if each.id != trust.id])
    outer.delete()
    here.await_no_trusts(alice)


def test_an_application_credential_does_as_well(here, alice, stack_of, admin):
    here.daemons.kill("engine-1")
    here.daemons.configure(deferred_auth_method="application_credential")
    here.daemons.start("engine-1")
    here.daemons.await_up("engine-1")
    stack = stack_of(alice)
    stack.create(NETS)
    assert here.trusts(alice) == []
    assert len([*admin.identity.application_credentials(alice.id)]) == 1
    assert admin.network.get_network(stack.id_of("net")).project_id == alice.project_id
    kept = delegations.of(here.database, stack.id)
    assert kept
    here.secrets.add(kept.secret["secret"])
    stack.delete()
    here.await_gone(lambda: [*admin.identity.application_credentials(alice.id)])
