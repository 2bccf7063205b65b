# SPDX-License-Identifier: Apache-2.0
"""Users of a stack and their keys, as what stands before Heat's plugins of them has it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from heatconv.model.definition import Definition
from heatconv.openstack.mended import users
from heatconv.openstack.stand_ins.resource import Resource
from heatconv.resources import exception
from heatconv.resources.context import Context
from heatconv.resources.facts import Incarnation, Peer, StackFacts
from heatconv.resources.properties import Schema
from heatconv.resources.stack_users import Account
from tests.driving import drive

NOTES = {"user_id": "u", "stack_user_project_id": "v"}
PEERS = {
    "jane": Peer(name="jane", type="AWS::IAM::User", resource_id="u", notes=NOTES),
    "policy": Peer(name="policy", type="OS::Heat::AccessPolicy", resource_id="policy"),
}


@dataclass
class Keeper:
    physical_id: str | None = None
    data: dict[str, str] = field(default_factory=dict)

    def set_physical_id(self, physical_id):
        self.physical_id = physical_id

    def set_data(self, data):
        self.data = dict(data)


class StackUsers:
    """Keeps the keys that are there, as a domain of Keystone's does."""

    def __init__(self):
        self.keys: dict[str, Any] = {}

    def add_key(self, account, access_key, secret_key):
        self.keys[f"id of {access_key}"] = (account, secret_key)
        return f"id of {access_key}"

    def remove_key(self, credential_id):
        self.keys.pop(credential_id, None)


class HeatsKey(Resource):
    properties_schema = {"UserName": Schema(Schema.STRING, required=True)}


class Key(users.AccessKey, HeatsKey):
    pass


@pytest.fixture
def there():
    return StackUsers()


@pytest.fixture
def key(there):
    """Return a function that makes a key of somebody, as whoever kept something would go on with it."""
    facts = StackFacts(
        id="1",
        name="web",
        project_id="p",
        context=Context(project_id="p", stack_users=there),
        resource_by_refid=PEERS.get,
    )

    def made(keeper, of="jane", peers=PEERS):
        stack = replace(facts, resource_by_refid=peers.get)
        plugin = Key("key", Definition(name="key", type="Key", properties={"UserName": of}), stack)
        drive(plugin).attach(Incarnation(id="2", physical_id=keeper.physical_id, data=keeper.data), keeper)
        return plugin

    return made


def test_a_key_is_that_of_the_user_it_names_and_goes_by_itself(key, there):
    keeper = Keeper()
    key(keeper).handle_create()

    ((credential_id, (account, secret)),) = there.keys.items()
    assert account == Account("u", "v")
    assert (credential_id, secret) == (f"id of {keeper.physical_id}", keeper.data["secret_key"])

    key(keeper).handle_delete()
    assert there.keys == {}


def test_whoever_goes_on_with_a_create_comes_to_the_same_key(key, there):
    first, second = Keeper(), Keeper()
    key(first).handle_create()
    second.data = {name: text for name, text in first.data.items() if name != "credential_id"}

    key(second).handle_create()

    assert (len(there.keys), second.physical_id) == (1, first.physical_id)


def test_a_key_whose_id_was_not_noted_any_more_goes_too(key, there):
    keeper = Keeper()
    key(keeper).handle_create()
    del keeper.data["credential_id"]

    key(keeper).handle_delete()

    assert there.keys == {}


@pytest.mark.parametrize("of", ["nobody", "policy"])
def test_a_key_of_nobody_says_what_to_do(key, there, of):
    with pytest.raises(exception.NotFound, match=f"No user {of} of this stack .* refer to one in UserName"):
        key(Keeper(), of).handle_create()
    assert there.keys == {}


def test_a_key_whose_user_is_gone_is_gone(key):
    keeper = Keeper()
    key(keeper).handle_create()
    del keeper.data["credential_id"]

    key(keeper, peers={}).handle_delete()


@pytest.mark.parametrize(
    ("policies", "valid"),
    [(None, True), (["policy"], True), (["elsewhere", {"a": "map"}], True), (["policy", "jane"], False)],
)
def test_a_policy_of_a_user_is_not_a_resource_of_another_type(policies, valid):
    facts = StackFacts(id="1", name="web", project_id="p", resource_by_refid=PEERS.get)
    user = users.User("jane", Definition(name="jane", type="User", properties={}), facts)
    assert user._validate_policies(policies) is valid
