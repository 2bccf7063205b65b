# SPDX-License-Identifier: Apache-2.0
"""That a service could not be asked about a value is no mistake of the value's."""

from __future__ import annotations

import pytest
import requests

from heatconv import errors
from heatconv.model.definition import Definition
from heatconv.model.states import Action
from heatconv.resources import constraints, exception, validation
from heatconv.resources.properties import Properties, Schema
from heatconv.resources.resource import Resource
from heatconv.worker.faults import is_passing, is_refusal

HIDDEN = "a-name-that-is-hidden"


class Asking(constraints.CustomConstraint):
    """A check whose service is asked in vain."""

    custom_constraint = property(lambda self: self)

    def __init__(self, error):
        super().__init__("somebody")
        self._error = error

    def _refusal(self, check, value, context):
        raise self._error


def schema_of(error, *, is_nested):
    schema = Schema(Schema.STRING, constraints=[Asking(error)])
    return {"x": Schema(Schema.LIST, schema=schema) if is_nested else schema}


@pytest.mark.parametrize("is_nested", [False, True])
def test_what_a_service_could_not_be_asked_about_may_be_valid_later(is_nested):
    schema = schema_of(requests.ConnectionError(f"GET /flavors/{HIDDEN}"), is_nested=is_nested)
    with pytest.raises(errors.NotJudged) as failed:
        Properties(schema, {"x": [HIDDEN] if is_nested else HIDDEN}).validate()
    assert is_passing(failed.value, Action.CREATE)
    assert is_refusal(failed.value)
    assert HIDDEN not in str(failed.value)


@pytest.mark.parametrize("is_nested", [False, True])
def test_a_check_that_stumbles_will_stumble_again(is_nested):
    schema = schema_of(KeyError("x"), is_nested=is_nested)
    with pytest.raises(exception.StackValidationFailed) as failed:
        Properties(schema, {"x": ["a"] if is_nested else "a"}).validate()
    assert not is_passing(failed.value, Action.CREATE)


class ByValue(Resource):
    properties_schema = schema_of(requests.Timeout("it took too long"), is_nested=False)


class ByPlugin(Resource):
    def validate(self):
        super().validate()
        raise requests.Timeout("it took too long")


class ByPolicy(Resource):
    @classmethod
    def validate_deletion_policy(cls, policy):
        raise errors.NotJudged(what="it", reason="it took too long")


@pytest.mark.parametrize("cls", [ByValue, ByPlugin, ByPolicy])
def test_a_template_is_not_refused_for_the_silence_of_a_service(stack, cls):
    given = {"x": "a"} if cls is ByValue else {}
    with pytest.raises(errors.NotJudged, match=r"is valid, .* it took too long"):
        validation.problems(cls, Definition(name="r", type="T", properties=given), stack)
