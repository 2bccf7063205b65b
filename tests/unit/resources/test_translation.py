# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from heatconv.model.definition import Definition
from heatconv.model.states import Action
from heatconv.model.unknown import Unknown
from heatconv.resources import exception, properties, resource
from heatconv.resources.translation import TranslationRule, translate
from tests.driving import drive

ADD, REPLACE, DELETE, RESOLVE = TranslationRule.RULE_KEYS


class NoMatch(Exception):
    """A client's own error for a thing that is not there."""


class Finder:
    def find(self, name):
        if name == "lost":
            raise exception.EntityNotFound(entity="Net", name=name)
        if name == "unmatched":
            raise NoMatch
        if name == "down":
            raise ConnectionError
        return f"id-{name}"

    def is_not_found(self, error):
        return isinstance(error, NoMatch)

    def find_any(self, entity, name):
        return f"{entity}-{name}"

    def client(self, name, version=None):
        return self

    def client_plugin(self, name):
        return self


def rule(kind, path, **how):
    return TranslationRule({}, kind, path, **how)


@pytest.mark.parametrize(
    ("rules", "given", "expected"),
    [
        # values from elsewhere
        ([rule(REPLACE, ["new"], value_path=["old"])], {"old": 1}, {"new": 1}),
        ([rule(REPLACE, ["new"], value_path=["old"])], {"new": 2}, {"new": 2}),
        ([rule(REPLACE, ["new"], value_path=["old"])], {}, {}),
        ([rule(REPLACE, ["map", "new"], value_path=["old"])], {"old": 1}, {"map": {"new": 1}}),
        ([rule(REPLACE, ["new"], value="fixed")], {"new": 1}, {"new": "fixed"}),
        (
            [rule(REPLACE, ["nets", "new"], value_name="old")],
            {"nets": [{"old": 1}, {"new": 2}]},
            {"nets": [{"new": 1}, {"new": 2}]},
        ),
        (
            [rule(REPLACE, ["nets", "new"], custom_value_path=["more", "old"])],
            {"nets": [{"more": {"old": 1}}]},
            {"nets": [{"more": {}, "new": 1}]},
        ),
        # more of a list
        ([rule(ADD, ["list"], value=[2])], {"list": [1]}, {"list": [1, 2]}),
        ([rule(ADD, ["list"], value=[2])], {}, {"list": [2]}),
        ([rule(ADD, ["list"], value_path=["one"])], {"one": 3, "list": [1]}, {"list": [1, 3]}),
        # less
        ([rule(DELETE, ["a", "b"])], {"a": [{"b": 1, "c": 2}]}, {"a": [{"c": 2}]}),
        ([rule(ADD, ["list"], value=[2])], {"list": None}, {"list": [2]}),
    ],
)
def test_rules_rewrite_what_was_given(rules, given, expected):
    before = repr(given)
    assert translate(given, rules) == expected
    assert repr(given) == before


def test_names_become_ids_wherever_they_are():
    rules = [
        rule(RESOLVE, ["net"], client_plugin=Finder(), finder="find"),
        rule(RESOLVE, ["ports", "net"], client_plugin=Finder(), finder="find"),
        rule(RESOLVE, ["groups"], client_plugin=Finder(), finder="find_any", entity="group"),
    ]
    given = {"net": "a", "ports": [{"net": "b"}, {}], "groups": ["c", "d"]}
    assert translate(given, rules) == {
        "net": "id-a",
        "ports": [{"net": "id-b"}, {}],
        "groups": ["group-c", "group-d"],
    }
    assert translate(given, rules, lookup=False) == given


def test_rules_run_in_their_order_not_in_that_of_the_list():
    rules = [
        rule(RESOLVE, ["new"], client_plugin=Finder(), finder="find"),
        rule(REPLACE, ["new"], value_path=["old"]),
    ]
    assert translate({"old": "a"}, rules) == {"new": "id-a"}


def test_what_is_deleted_is_there_until_names_were_looked_up():
    asked = []

    class Asked(Finder):
        def find(self, name):
            asked.append(name)
            return super().find(name)

    rules = [rule(DELETE, ["old"]), rule(RESOLVE, ["old"], client_plugin=Asked(), finder="find")]
    assert translate({"old": "a"}, rules) == {}
    assert asked == ["a"]


def test_old_and_new_at_once_are_a_conflict():
    with pytest.raises(exception.ResourcePropertyConflict, match="new, old"):
        translate({"old": 1, "new": 2}, [rule(REPLACE, ["new"], value_path=["old"])])


def test_what_is_not_known_yet_is_not_looked_up():
    unknown = Unknown()
    found = translate({"net": unknown}, [rule(RESOLVE, ["net"], client_plugin=Finder(), finder="find")])
    assert isinstance(found["net"], Unknown)


@pytest.mark.parametrize(
    ("kind", "path", "how", "sentence"),
    [
        ("Turn", ["a"], {}, "no rule Turn"),
        (REPLACE, [], {"value": 1}, "needs the path"),
        (ADD, ["a"], {"value": 1}, "has to be a list"),
        (REPLACE, ["a"], {"value": 1, "value_name": "b"}, "one place only"),
        (RESOLVE, ["a"], {}, "needs a finder"),
    ],
)
def test_a_rule_without_sense_is_refused(kind, path, how, sentence):
    with pytest.raises(ValueError, match=sentence):
        rule(kind, path, **how)


class Port(resource.Resource):
    default_client_name = "net"
    properties_schema = {"net": properties.Schema(properties.Schema.STRING)}

    def translation_rules(self, properties):
        return [
            TranslationRule(properties, RESOLVE, ["net"], client_plugin=self.client_plugin(), finder="find")
        ]


def test_a_resource_sees_ids_and_compares_by_them(make, served, keeper):
    facts = served(Finder())
    port = make(Port, {"net": "a"}, facts=facts, action=Action.CREATE)
    assert port.properties["net"] == "id-a"
    after = Definition(name="server", type="T", properties={"net": "id-a"})
    with pytest.raises(resource.UpdateReplace):
        drive(port).plan_update(after)


@pytest.mark.parametrize(("name", "error"), [("lost", exception.EntityNotFound), ("unmatched", NoMatch)])
def test_a_name_that_is_lost_matters_only_before_the_resource_is_made(make, served, keeper, name, error):
    facts = served(Finder())
    with pytest.raises(error):
        drive(make(Port, {"net": name}, facts=facts)).start(Action.CREATE)
    keeper.physical_id = "there"
    assert make(Port, {"net": name}, facts=facts).properties["net"] == name


def test_a_service_that_is_away_has_lost_no_name(make, served, keeper):
    keeper.physical_id = "there"
    with pytest.raises(ConnectionError):
        _ = make(Port, {"net": "down"}, facts=served(Finder())).properties


def test_without_a_client_a_name_stays_a_name_until_something_is_to_be_done(make, stack):
    wanted = Definition(name="server", type="T", properties={"net": "a"})
    assert Port("server", wanted, stack).properties["net"] == "a"
    with pytest.raises(exception.ClientNotAvailable, match="net"):
        drive(make(Port, {"net": "a"})).start(Action.CREATE)
