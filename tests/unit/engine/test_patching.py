# SPDX-License-Identifier: Apache-2.0
"""What is kept and what is not when something is laid over what is there."""

from __future__ import annotations

import pytest

from heatconv import errors
from heatconv.engine.freezing import parse
from heatconv.engine.patching import lay_over
from heatconv.engine.redaction import Redaction

LIMIT = 10_000


def template(*parameters):
    return {
        "heat_template_version": "2018-08-31",
        "parameters": {name: {"type": "string"} for name in parameters},
    }


@pytest.fixture
def before():
    environment = {
        "parameters": {"a": "old a", "b": "old b"},
        "parameter_defaults": {"a": "default a", "c": {"d": "default d"}},
        "resource_registry": {
            "A": "OS::Heat::None",
            "resources": {"one": {"hooks": "pre-create"}, "two": {"hooks": "pre-update"}},
        },
        "event_sinks": [{"type": "zaqar-queue", "target": "q"}],
    }
    source = {
        "template": template("a", "b"),
        "environment": environment,
        "files": {"f": "old f", "g": "old g"},
    }
    return parse(source, max_template_size=LIMIT)


def patched(before, **sent):
    return lay_over(before, sent, max_template_size=LIMIT)


def test_nothing_changes_nothing(before):
    after = patched(before)
    assert after.template == before.template
    assert after.environment == before.environment
    assert after.files == before.files


def test_parameters_go_over_an_environment_and_both_over_what_was(before):
    after = patched(before, environment="parameters: {a: new a, b: new b}", parameters={"b": "newest b"})
    assert after.environment["parameters"] == {"a": "new a", "b": "newest b"}
    assert patched(before, parameters={"b": "x"}).environment["parameters"] == {"a": "old a", "b": "x"}


def test_parameters_that_are_cleared_go_unless_they_are_given_anew(before):
    after = patched(before, clear_parameters=["a", "b", "unknown"], parameters={"b": "new b"})
    assert after.environment["parameters"] == {"b": "new b"}


def test_values_stay_behind_where_the_template_has_no_such_parameter_any_more(before):
    after = patched(before, template=template("b", "c"))
    assert after.environment["parameters"] == {"b": "old b"}
    # What is given for it all the same is a mistake for others to tell.
    after = patched(before, template=template("b"), parameters={"a": "new a"})
    assert after.environment["parameters"] == {"b": "old b", "a": "new a"}


def test_registries_are_joined_and_defaults_are_replaced_by_name(before):
    after = patched(
        before,
        environment={
            "parameter_defaults": {"c": {"e": "default e"}},
            "resource_registry": {"B": "A", "resources": {"one": {"hooks": "post-create"}}},
        },
    )
    assert after.environment["parameter_defaults"] == {"a": "default a", "c": {"e": "default e"}}
    assert after.environment["resource_registry"] == {
        "A": "OS::Heat::None",
        "B": "A",
        "resources": {"one": {"hooks": "post-create"}, "two": {"hooks": "pre-update"}},
    }
    assert after.environment["event_sinks"] == before.environment["event_sinks"]


def test_files_are_joined_by_name_and_environment_files_are_among_them(before):
    after = patched(
        before, files={"g": "new g", "env": "parameters: {a: from file}"}, environment_files=["env"]
    )
    assert after.files == {"f": "old f", "g": "new g", "env": "parameters: {a: from file}"}
    assert after.environment["parameters"] == {"a": "from file", "b": "old b"}


def test_what_was_is_left_as_it_was(before):
    patched(before, environment={"resource_registry": {"resources": {"one": {"hooks": "post-delete"}}}})
    assert before.environment["resource_registry"]["resources"]["one"] == {"hooks": "pre-create"}


def test_what_is_no_environment_is_refused(before):
    with pytest.raises(errors.Invalid, match="colours"):
        patched(before, environment={"colours": {}})


SECRET = {"type": "string", "hidden": True}


@pytest.fixture
def hiding():
    """Return a source with a hidden parameter that has a value, and one that lives by its default."""
    parameters = {"given": SECRET, "default": SECRET | {"default": "sesame"}, "open": {"type": "string"}}
    source = {
        "template": {"heat_template_version": "2018-08-31", "parameters": parameters},
        "environment": {"parameters": {"given": "open up", "open": "x"}},
    }
    return parse(source, max_template_size=LIMIT)


def test_what_is_sent_as_it_is_shown_stays_what_it_was(hiding):
    shown = Redaction(hiding)

    after = patched(hiding, template=shown.template(), environment=shown.environment())

    assert after.template == hiding.template
    assert after.environment["parameters"] == hiding.environment["parameters"]


def test_what_is_sent_as_it_is_shown_stays_hidden_if_the_template_says_so_no_more(hiding):
    plain = {"type": "string", "default": "******"}
    sent = {"heat_template_version": "2018-08-31", "parameters": {"given": plain, "default": plain}}

    after = patched(hiding, template=sent, parameters={"given": "******"})

    assert after.template["parameters"]["default"]["default"] == "sesame"
    assert after.environment["parameters"]["given"] == "open up"
    assert {"given", "default"} <= Redaction(after).names
    assert "sesame" not in str(Redaction(after).template())


def test_a_mask_that_stands_for_nothing_is_left(hiding):
    after = patched(hiding, parameters={"open": "******"}, parameter_defaults={"default": "******"})

    assert after.environment["parameters"]["open"] == "******"
