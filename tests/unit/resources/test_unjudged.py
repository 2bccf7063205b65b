# SPDX-License-Identifier: Apache-2.0
"""That a service could not be asked about a value is no mistake of the value's."""

from __future__ import annotations

import copy

import pytest
import requests

from heatconv.model.states import Action
from heatconv.resources import constraints, exception
from heatconv.resources.properties import Properties, Schema
from heatconv.worker.faults import is_passing


class Away(constraints.CustomConstraint):
    """A check that cannot ask its service."""

    custom_constraint = property(lambda self: self)

    def __init__(self, error):
        super().__init__("away")
        self._error = error

    def _refusal(self, check, value, context):
        raise self._error


@pytest.mark.parametrize(("error", "passes"), [(requests.ConnectionError(), True), (KeyError("x"), False)])
@pytest.mark.parametrize("is_nested", [False, True])
def test_what_a_service_could_not_be_asked_about_may_be_valid_later(error, passes, is_nested):
    schema = Schema(Schema.STRING, constraints=[Away(error)])
    given = {"x": ["a"]} if is_nested else {"x": "a"}
    properties = Properties({"x": Schema(Schema.LIST, schema=schema) if is_nested else schema}, given)
    with pytest.raises(exception.StackValidationFailed) as failed:
        properties.validate()
    assert failed.value.__cause__ is error
    assert is_passing(failed.value, Action.CREATE) == passes


def test_a_sentence_on_it_can_be_copied():
    sentence = constraints.Unjudged("it cannot be checked", KeyError())
    assert copy.deepcopy(sentence) == "it cannot be checked"
