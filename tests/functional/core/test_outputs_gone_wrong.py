# SPDX-License-Identifier: Apache-2.0
"""What is wrong with an output is told without the secrets that it was made of."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from heatconv.engine.reads import Reads
from heatconv.model.secrets import HIDDEN
from tests.functional.core.world import CONTEXT, HOUR

SECRET = "a very hidden word"


class Secretive(NamedTuple):
    """A template of a resource that tells a secret, which an output takes for a list."""

    resource: dict[str, object]
    attribute: str

    def hot(self):
        value = {"get_attr": ["A", self.attribute]}
        return {
            "heat_template_version": "2021-04-16",
            "parameters": {"word": {"type": "string", "hidden": True, "default": SECRET}},
            "resources": {"A": self.resource},
            "outputs": {"value": {"value": value}, "joined": {"value": {"list_join": ["", value]}}},
        }


@pytest.mark.parametrize(
    "template",
    [
        Secretive(
            {"type": "OS::Heat::TestResource", "properties": {"value": {"get_param": "word"}}}, "output"
        ),
        Secretive({"type": "OS::Heat::RandomString"}, "value"),
    ],
    ids=["of its own properties", "of its plugin's notes"],
)
def test_what_is_wrong_with_an_output_does_not_tell_a_resources_secret(world, template):
    world.create(template)
    world.run()

    shown = Reads(world.database, dead_after=HOUR).show_stack(CONTEXT, world.stack_id)["outputs"]
    value, joined = sorted(shown, key=lambda output: output["output_key"], reverse=True)

    assert len(value["output_value"]) > 10  # it is the user's to see, where it is asked for
    assert joined["output_value"] is None
    assert HIDDEN in joined["output_error"]
    assert value["output_value"] not in joined["output_error"]
