# SPDX-License-Identifier: Apache-2.0
"""A plugin gets back exactly the token that it returned, or it is known to be lost."""

from __future__ import annotations

import json
from collections import OrderedDict

import pytest

from heatconv.model import tokens
from heatconv.model.definition import Definition
from heatconv.model.records import Attempt
from heatconv.model.states import Action, Status


def attempted(token):
    definition = Definition(name="R", type="T")
    return Attempt(action=Action.CREATE, definition=definition, sha1="", requires={}, token=token)


def saved(token):
    return Attempt.from_json(json.loads(json.dumps(attempted(token).to_json()))).token


@pytest.mark.parametrize(
    "token",
    [
        None,
        "id",
        1,
        1.5,
        True,
        {"id": "x", "to_do": ["a", "b"]},
        ("id", {"to_do": [1]}),
        [("a",)],
        {"tuple": 1},
    ],
)
def test_what_is_saved_comes_back_as_it_was(token):
    assert saved(tokens.copied(token)) == token
    assert type(saved(token)) is type(token)


def test_what_is_saved_does_not_change_with_the_token():
    token = {"to_do": ["a"]}
    copy = tokens.copied(token)
    token["to_do"].pop()
    assert copy == {"to_do": ["a"]}


@pytest.mark.parametrize(
    "token", [object(), {1: 2}, OrderedDict(a=1), {"a": {1, 2}}, [float("nan")], Status.COMPLETE]
)
def test_what_would_come_back_otherwise_is_not_saved(token):
    with pytest.raises(tokens.NotSaved):
        tokens.copied(token)


def test_an_attempt_of_a_version_before_may_have_been_begun():
    attempt = attempted(None)
    old = {key: value for key, value in attempt.to_json().items() if key not in ("lost", "begun")}
    assert Attempt.from_json(old).begun
    assert not Attempt.from_json(attempt.to_json()).begun
