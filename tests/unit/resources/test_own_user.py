# SPDX-License-Identifier: Apache-2.0
"""Resources with a user of their own, where maps stand for Keystone."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace

import pytest

from heatconv.errors import StaleWrite
from heatconv.model.definition import Definition
from heatconv.model.secrets import redacted
from heatconv.model.states import Action, DeletionPolicy
from heatconv.resources import exception
from heatconv.resources.context import Context
from heatconv.resources.facts import Incarnation, Unkept
from heatconv.resources.heat.wait_condition_handle import WaitConditionHandle
from heatconv.resources.own_user import OwnUser
from heatconv.resources.stack_users import NOTES, Account
from heatconv.resources.validation import problems
from tests.driving import drive

URL = "http://heat/v1/p/stacks/web/1/resources/2/signal"


class Users:
    """Makes users as a domain of Keystone's does."""

    domain_id = "domain"
    auth_url = "http://keystone/v3"
    region_name = "here"

    def __init__(self):
        self.passwords = {}
        self.enabled = {}
        self.keys = {}

    def make(self, name, project, password, about):
        self.passwords[name, project] = password
        return Account(f"id of {name}", f"id of {project}")

    def remove(self, name, project):
        self.passwords.pop((name, project), None)

    def enable(self, user_id, *, enabled):
        self.enabled[user_id] = enabled

    def add_key(self, account, access_key, secret_key):
        self.keys[access_key] = (account, secret_key)
        return f"id of {access_key}"

    def remove_key(self, credential_id):
        self.keys.pop(credential_id.removeprefix("id of "), None)

    def token(self, account, password):
        return f"token of {account.id} by {password}"


@pytest.fixture
def users():
    return Users()


@pytest.fixture
def facts(stack, users):
    context = Context(project_id="p", stack_users=users)
    return replace(stack, context=context, signal_url=lambda _name: f"{URL}?signature=it")


@pytest.fixture
def handle(make, facts):
    """Return a function that makes a handle with a way to signal."""
    return lambda transport: make(WaitConditionHandle, {"signal_transport": transport}, facts=facts)


def test_who_logs_in_is_told_all_that_it_takes(handle, users):
    made = handle("HEAT_SIGNAL")
    drive(made).start(Action.CREATE)
    ((name, project), password) = next(iter(users.passwords.items()))
    assert project == made.uuid
    assert name == made.physical_resource_name()
    assert json.loads(made.get_attribute("signal")) == {
        "auth_url": "http://keystone/v3",
        "username": name,
        "user_id": f"id of {name}",
        "password": password,
        "project_id": f"id of {project}",
        "domain_id": "domain",
        "region_name": "here",
        "alarm_url": URL.replace("/v1/p/", f"/v1/id%20of%20{project}/"),
    }


def test_a_token_is_told_with_where_to_send_it(handle, users):
    made = handle("TOKEN_SIGNAL")
    drive(made).start(Action.CREATE)
    (password,) = users.passwords.values()
    assert made.get_attribute("token") == f"token of {made.data()['user_id']} by {password}"
    assert made.get_attribute("endpoint").endswith("/signal")


def test_a_signed_url_is_told_where_resources_have_no_users(make, facts):
    without = replace(facts, context=Context(project_id="p"))
    made = make(WaitConditionHandle, facts=without)
    drive(made).start(Action.CREATE)
    assert (made.get_attribute("token"), made.get_attribute("endpoint")) == ("", f"{URL}?signature=it")
    wanted = Definition(name="a", type="T", properties={"signal_transport": "HEAT_SIGNAL"})
    ((_path, said),) = problems(WaitConditionHandle, wanted, without)
    assert "stack_user_domain_name" in said


def test_what_is_noted_of_a_user_is_not_shown(handle, keeper):
    made = handle("TOKEN_SIGNAL")
    drive(made).start(Action.CREATE)
    made._create_keypair()
    shown = NOTES - redacted(keeper.data)
    assert shown == {"user_id", "stack_user_project_id"}


def test_whoever_goes_on_comes_to_the_same_user(make, facts, keeper, users, monkeypatch):
    class Dead(Exception):
        pass

    made = make(WaitConditionHandle, {"signal_transport": "HEAT_SIGNAL"}, facts=facts)
    plain = users.make

    def die(*arguments):
        plain(*arguments)
        raise Dead

    monkeypatch.setattr(users, "make", die)
    with pytest.raises(Dead):
        drive(made).start(Action.CREATE)
    monkeypatch.undo()
    (password,) = users.passwords.values()
    again = WaitConditionHandle("server", made.definition, facts)
    drive(again).attach(Incarnation(id=made.uuid, data=keeper.data), keeper)
    drive(again).start(Action.CREATE)
    assert list(users.passwords.values()) == [password]
    drive(again).start(Action.DELETE)
    assert drive(again).is_complete(Action.DELETE, None)
    assert users.passwords == {}
    assert NOTES.isdisjoint(keeper.data)


@pytest.mark.parametrize("policy", [DeletionPolicy.DELETE, DeletionPolicy.RETAIN])
def test_a_user_goes_with_its_resource_whatever_stays(make, facts, users, policy):
    made = make(WaitConditionHandle, {"signal_transport": "HEAT_SIGNAL"}, facts=facts, deletion_policy=policy)
    drive(made).start(Action.CREATE)
    assert drive(made).is_complete(Action.DELETE, drive(made).start(Action.DELETE))
    assert users.passwords == {}


def test_a_second_copy_goes_without_the_user_of_the_first(handle, users):
    made = handle("HEAT_SIGNAL")
    drive(made).start(Action.CREATE)
    drive(made).attach(drive(made).incarnation, Unkept())
    assert drive(made).is_complete(Action.DELETE, drive(made).start(Action.DELETE))
    assert len(users.passwords) == 1


def test_a_resource_without_a_user_asks_nobody(handle, users, monkeypatch):
    made = handle("CFN_SIGNAL")
    drive(made).start(Action.CREATE)
    monkeypatch.delattr(Users, "remove")
    assert drive(made).is_complete(Action.DELETE, drive(made).start(Action.DELETE))
    assert users.passwords == {}


def test_a_suspended_resource_has_no_voice(handle, users):
    made = handle("HEAT_SIGNAL")
    drive(made).start(Action.CREATE)
    for action, enabled in ((Action.SUSPEND, False), (Action.RESUME, True)):
        drive(made).start(action)
        assert users.enabled == {made.data()["user_id"]: enabled}


def test_there_is_one_key_however_often_it_is_made(make, facts, keeper, users, monkeypatch):
    made = make(OwnUser, facts=facts)
    made._create_user()
    plain = users.add_key
    monkeypatch.setattr(users, "add_key", lambda *given: plain(*given) and stale())
    with pytest.raises(StaleWrite):
        made._create_keypair()
    monkeypatch.undo()
    pair = made._create_keypair()
    assert made._create_keypair() == pair
    assert users.keys == {pair.access: (Account.of(keeper.data), pair.secret)}
    made._delete_keypair()
    assert users.keys == {}


def stale():
    raise StaleWrite(entity="it")


def test_what_is_adopted_tells_nothing_of_whose_user_may_speak_for_it(make, facts, keeper, users):
    """Somebody who knows the id of another's user must not have it deleted, or let in."""
    sent = {"user_id": "another", "stack_user_project_id": "others", "password": "guessed", "note": "kept"}
    made = make(WaitConditionHandle, {"signal_transport": "HEAT_SIGNAL"}, facts=facts)
    drive(made).start(Action.ADOPT, {"resource_id": "it", "resource_data": sent})
    assert (made.data()["note"], made.resource_id) == ("kept", "it")
    assert made.data()["password"] in users.passwords.values()
    assert Account.of(keeper.data) == Account(f"id of {made.physical_resource_name()}", f"id of {made.uuid}")


def test_a_user_is_refused_in_one_sentence_where_nobody_makes_any(facts):
    made = OwnUser("a", Definition(name="a", type="T"), replace(facts, context=Context(project_id="p")))
    drive(made).attach(Incarnation(id=str(uuid.uuid4())), None)
    with pytest.raises(exception.NotSupported, match=r"A Keystone user for a, .*stack_user_domain_name"):
        made._create_user()
