# SPDX-License-Identifier: Apache-2.0
"""What a look at a thing shows of the create that made it."""

from __future__ import annotations

import pytest

from heatconv.model.definition import Definition
from heatconv.resources.facts import StackFacts
from heatconv.resources.properties import Schema
from heatconv.resources.resource import Resource
from heatconv.worker.looks import is_whole
from tests.driving import drive


class Group(Resource):
    """A group whose service tells its description, and of its rules nothing that could be compared."""

    properties_schema = {
        "description": Schema(Schema.STRING),
        "rules": Schema(Schema.LIST, default=[]),
    }

    def comparable(self):
        return {"description"} & self.definition.properties.keys()

    def get_live_resource_data(self):
        return {"description": "of mine"}

    def parse_live_resource_data(self, _properties, data):
        return data


@pytest.mark.parametrize(
    ("properties", "whole"),
    [
        ({"description": "of mine"}, True),
        ({"description": "of others"}, False),
        ({}, True),
        ({"description": "of mine", "rules": ["tcp"]}, False),
    ],
)
def test_a_thing_is_whole_if_all_that_was_given_is_seen(properties, whole):
    definition = Definition(name="it", type="Group", properties=properties)
    assert is_whole(drive(Group("it", definition, StackFacts(id="s", name="s", project_id="p")))) == whole
