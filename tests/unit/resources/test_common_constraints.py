# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from heatconv import errors
from heatconv.engine.freezing import freeze, parse
from heatconv.resources import constraints, exception, memory
from heatconv.resources.heat.test_resource import TestResource
from heatconv.resources.registry import Registry
from heatconv.resources.validation import problems

LONG = ".".join(["a" * 63] * 4)  # 255 characters

VALID = {
    "cron_expression": ["*/5 * * * *", "@hourly", "0 0 * * mon-fri", ""],
    "dns_domain": ["example.org.", ""],
    "dns_name": ["example.org", "example.org.", "a", "1and1.example", LONG, ""],
    "expiration": ["2999-01-01T00:00:00Z", "2999-01-01", ""],
    "ip_addr": ["10.0.0.1", "::1"],
    "ip_or_cidr": ["10.0.0.1", "10.0.0.0/24", "fd00::/8"],
    "iso_8601": ["2026-11-21T06:00:00Z", "2026-11-21"],
    "json_string": ["{}", "[1]", '"a"', "null"],
    "mac_addr": ["fa:16:3e:00:00:01", "FA-16-3E-00-00-01", "fa16.3e00.0001", "fa163e-000001", "fa163e000001"],
    "net_cidr": ["10.0.0.0/24", "10.0.0.1/24", "fd00::/8"],
    "rel_dns_name": ["www", "www.example", ""],
    "timezone": ["Europe/Berlin", "UTC", ""],
}

INVALID = {
    "cron_expression": ["61 * * * *", "daily", "* * *"],
    "dns_domain": ["example.org", "-a."],
    "dns_name": ["a_b", "-a", "a-", "a..b", ".", "a.1", "a" * 64, LONG + ".a"],
    "expiration": ["1999-01-01T00:00:00Z", "tomorrow"],
    "ip_addr": ["10.0.0.256", "10.0.0.0/24", "localhost"],
    "ip_or_cidr": ["10.0.0.0/33", "localhost"],
    "iso_8601": ["yesterday", ""],
    "json_string": ["{", "{'a': 1}", ""],
    "mac_addr": ["fa:16:3e:00:00", "fa:16:3e:00:00:0g", "fa:16-3e:00:00:01", ""],
    "net_cidr": ["10.0.0.0", "10.0.0.0/33"],
    "rel_dns_name": ["www.", LONG, "a_b"],
    "timezone": ["Europe/Atlantis", "../etc/passwd"],
}


def cases(table):
    return [pytest.param(name, value, id=f"{name}-{value[:12]}") for name in table for value in table[name]]


@pytest.mark.parametrize(("name", "value"), cases(VALID))
def test_what_is_valid(name, value):
    constraints.CustomConstraint(name).validate(value)


@pytest.mark.parametrize(("name", "value"), cases(INVALID))
def test_what_is_not_valid_is_told_in_a_sentence(name, value):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # each says something else
        constraints.CustomConstraint(name).validate(value)
    assert " " in str(caught.value)


def test_every_constraint_that_needs_no_cloud_is_installed():
    assert constraints.installed().keys() >= {*VALID, "test_constr"}


def test_the_slow_constraint_holds_nobody_up(make, stack, monkeypatch):
    monkeypatch.setattr("time.sleep", pytest.fail)
    resource = make(TestResource, {"constraint_prop_secs": 2.5})
    assert problems(TestResource, resource.definition, stack) == []


@pytest.mark.parametrize("value", ["2", [2], None, -1, 61, 10**400, float("inf"), float("nan")])
def test_the_slow_constraint_takes_no_other_time(monkeypatch, value):
    monkeypatch.setattr("time.sleep", pytest.fail)
    with pytest.raises(ValueError, match="is not a number of seconds from 0 to 60"):
        constraints.CustomConstraint("test_constr").validate(value)


def test_a_parameter_that_a_constraint_cannot_take_is_refused_with_its_place(stack):
    declared = {"type": "string", "default": "abc", "constraints": [{"custom_constraint": "test_constr"}]}
    posted = {"heat_template_version": "2021-04-16", "parameters": {"wait": declared}}
    source = parse({"template": posted}, max_template_size=10_000)
    with pytest.raises(errors.Invalid) as caught:
        freeze(source, stack, Registry({}))
    assert caught.value.problems == [
        ("parameters.wait", "'abc' is not a number of seconds from 0 to 60"),
    ]


# -- those that ask a service ----------------------------------------------------------------


class Known(constraints.BaseCustomConstraint):
    resource_client_name = "nova"
    resource_getter_name = "find"


class Nova:
    """A context, its clients, and the plugin that finds one flavor."""

    def __init__(self, project, flavors):
        self.project_id = project
        self.flavors = flavors
        self.asked = 0
        self.clients = self

    def client_plugin(self, name):
        return self

    def find(self, value):
        self.asked += 1
        if value not in self.flavors:
            raise exception.EntityNotFound(entity="Flavor", name=value)


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(constraints, "_FOUND", memory.Memory(seconds=60))
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_what_was_found_is_not_looked_for_again_for_a_while(clock):
    nova = Nova("p", ["small"])
    assert [Known().validate("small", nova) for _ in range(3)] == [True] * 3
    assert nova.asked == 1
    clock[0] = 61
    assert Known().validate("small", nova)
    assert nova.asked == 2


def test_what_was_not_found_is_looked_for_again_at_once(clock):
    nova = Nova("p", [])
    assert not Known().validate("small", nova)
    nova.flavors.append("small")
    assert Known().validate("small", nova)


def test_what_one_project_has_says_nothing_of_another(clock):
    assert Known().validate("small", Nova("p", ["small"]))
    assert not Known().validate("small", Nova("q", []))


def test_a_memory_that_is_full_forgets_what_is_over_and_takes_no_more(clock, monkeypatch):
    monkeypatch.setattr(memory, "LIMIT", 2)
    small = memory.Memory(seconds=60)
    for each in "abc":
        small.add(each)
    assert [small.knows(each) for each in "abc"] == [True, True, False]
    clock[0] = 60
    small.add("c")
    assert [small.knows(each) for each in "abc"] == [False, False, True]


def test_a_service_that_is_not_installed_is_named(stack):
    check = Known()
    assert not check.validate("small", stack.context)
    assert check.error("small") == '"small" cannot be checked: The client (nova) is not available.'
