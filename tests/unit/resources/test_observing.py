# SPDX-License-Identifier: Apache-2.0
"""What a resource makes of its service's answer: gone, broken, different."""

from __future__ import annotations

import pytest

from heatconv.model.definition import Definition
from heatconv.resources import exception, resource
from heatconv.resources.driver import is_observable
from heatconv.resources.facts import Incarnation, StackFacts, Unkept
from heatconv.resources.properties import Schema
from tests.driving import drive

MAP = {"cpu": Schema(Schema.INTEGER), "disk": Schema(Schema.STRING)}


class Observed(resource.Resource):
    """A type whose service answers as a test says."""

    properties_schema = {
        "size": Schema(Schema.INTEGER, update_allowed=True),
        "name": Schema(Schema.STRING, default="web", update_allowed=True),
        "tags": Schema(Schema.LIST, update_allowed=True),
        "shape": Schema(Schema.MAP, schema=MAP, update_allowed=True),
        "free": Schema(Schema.MAP, update_allowed=True),
        "fixed": Schema(Schema.STRING),
    }
    given_only = ("tags", "fixed")
    answer = None

    def get_live_resource_data(self):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Deaf(resource.Resource):
    """A type that nobody can look at."""


def make(answer, **properties):
    made = Observed(
        "a",
        Definition(name="a", type="T", properties=properties),
        StackFacts(id="s", name="s", project_id="p"),
    )
    drive(made).attach(Incarnation(id="row", physical_id="x"), Unkept())
    made.answer = answer
    return made


@pytest.mark.parametrize(
    ("properties", "live", "differences"),
    [
        ({"size": 1}, {"size": 1}, {}),
        ({"size": "1"}, {"size": 1}, {}),
        ({"size": 1}, {"size": 2}, {"size": 2}),
        ({"size": 1}, {"size": "many"}, {"size": "many"}),
        ({"size": 1}, {}, {}),
        ({"size": 0}, {"size": None}, {"size": None}),
        # Nobody chose it, so it is the service's to choose.
        ({}, {"size": 3}, {}),
        ({}, {"name": "web"}, {}),
        ({}, {"name": "db"}, {"name": "db"}),
        ({"tags": []}, {"tags": None}, {}),
        ({"tags": ["a"]}, {"tags": ["a", "b"]}, {"tags": ["a", "b"]}),
        ({"shape": {"cpu": 2}}, {"shape": {"cpu": 2, "disk": "20G"}}, {}),
        ({"shape": {"cpu": 2}}, {"shape": {"cpu": 4}}, {"shape": {"cpu": 4}}),
        ({"free": {"a": 1}}, {"free": {"a": 1, "b": 2}}, {"free": {"a": 1, "b": 2}}),
    ],
)
def test_what_differs_is_what_somebody_chose_and_is_not_so(properties, live, differences):
    made = make(live, **properties)
    assert drive(made).differences(drive(made).observe()) == differences


@pytest.mark.parametrize(
    ("properties", "live", "unexpected"),
    [
        ({}, {"tags": ["mine"], "free": {"a": 1}, "fixed": "x"}, {"tags": ["mine"]}),
        ({}, {"tags": []}, {}),
        ({}, {"tags": None}, {}),
        ({}, {}, {}),
        ({"tags": ["a"]}, {"tags": ["a", "mine"]}, {}),
    ],
)
def test_what_nobody_asked_for_is_unexpected_where_nobody_else_chooses(properties, live, unexpected):
    assert drive(make({}, **properties)).unexpected(live) == unexpected


def test_what_cannot_be_updated_is_compared_if_the_type_tells_of_it():
    class Telling(Observed):
        def parse_live_resource_data(self, resource_properties, resource_data):
            return resource_data

    made = Telling(
        "a",
        Definition(name="a", type="T", properties={"fixed": "x"}),
        StackFacts(id="s", name="s", project_id="p"),
    )
    assert drive(made).differences({"fixed": "y"}) == {"fixed": "y"}


def test_what_is_broken_by_its_status_is_in_error():
    with pytest.raises(exception.ResourceInError, match="error"):
        drive(make({"status": "error"})).observe()
    assert drive(make({"status": "ACTIVE"})).observe() == {}


def test_a_type_can_be_observed_if_it_says_how():
    assert is_observable(Observed)
    assert not is_observable(Deaf)
