# SPDX-License-Identifier: Apache-2.0
"""What describes a stack is shown without what is hidden in it."""

from __future__ import annotations

import pytest

from heatconv.engine.redaction import Redaction
from heatconv.model.records import RawTemplate

SECRET = "correct horse battery staple"
NESTED = """\
heat_template_version: 2021-04-16
parameters:
  inner_password: {type: string, hidden: true, default: tiny}
  size: {type: number, default: 3}
resources:
  r: {type: OS::Heat::Value, properties: {value: {get_param: inner_password}}}
"""


@pytest.fixture
def redaction():
    return Redaction(
        RawTemplate(
            template={
                "heat_template_version": "2021-04-16",
                "parameters": {
                    "password": {"type": "string", "hidden": "true", "default": "sesame"},
                    "size": {"type": "number", "default": 5},
                },
            },
            environment={
                "parameters": {"password": SECRET, "size": 7},
                "parameter_defaults": {"inner_password": "another secret of mine", "colour": "red"},
                "resource_registry": {"My::Type": "nested.yaml"},
            },
            files={
                "nested.yaml": NESTED,
                "env.yaml": f"parameters:\n  password: {SECRET}\n  size: 7\n",
                "old.yaml": "parameters:\n  password: former\n  user_password: {get_param: password}\n",
                "env.json": '{"parameters": {"size": 7, "password": "former"}}',
                "run.sh": f"login --as me --with '{SECRET}'\n",
                "broken.yaml": "hidden: [",
            },
        )
    )


def test_hidden_parameters_have_no_default(redaction):
    assert redaction.template()["parameters"] == {
        "password": {"type": "string", "hidden": "true", "default": "******"},
        "size": {"type": "number", "default": 5},
    }


def test_hidden_parameters_of_nested_templates_are_masked_too(redaction):
    shown = redaction.environment()

    assert shown["parameters"] == {"password": "******", "size": 7}
    assert shown["parameter_defaults"] == {"inner_password": "******", "colour": "red"}
    assert shown["resource_registry"] == {"My::Type": "nested.yaml"}


def test_files_are_shown_without_secrets(redaction):
    assert redaction.files() == {
        "nested.yaml": NESTED.replace("tiny", "'******'"),
        "env.yaml": "parameters:\n  password: '******'\n  size: 7\n",
        "old.yaml": "parameters:\n  password: '******'\n  user_password: {get_param: password}\n",
        "env.json": '{"parameters": {"size": 7, "password": \'******\'',
        "run.sh": "login --as me --with '******'\n",
        "broken.yaml": "hidden: [",
    }


def test_cloudformation_says_it_in_other_words():
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Parameters": {"P": {"Type": "String", "NoEcho": "true", "Default": SECRET}},
    }
    redaction = Redaction(RawTemplate(template=template, environment={"parameters": {"P": "x"}}))

    assert redaction.template()["Parameters"]["P"]["Default"] == "******"
    assert redaction.environment()["parameters"] == {"P": "******"}


def test_a_snapshot_is_shown_without_what_plugins_redact(redaction):
    notes = {"password": "made up", "port": "22", "login": "sesame", "$redacted": '["password"]'}
    data = {
        "name": "s",
        "template": {},
        "environment": {},
        "files": {},
        "resources": {"r": {"metadata": {"a": [SECRET]}, "resource_data": notes}},
    }

    shown = redaction.snapshot(data)

    assert shown["name"] == "s"
    assert shown["resources"]["r"]["metadata"] == {"a": ["******"]}
    assert shown["resources"]["r"]["resource_data"] == notes | {"password": "******", "login": "******"}


def test_what_an_old_environment_among_the_files_hid_is_hidden_still():
    template = {"parameters": {"password": {"type": "string", "hidden": True}}}
    files = {"env.yaml": f"parameters: {{password: {SECRET}}}", "run.sh": f"login '{SECRET}'"}
    redaction = Redaction(
        RawTemplate(template=template, environment={"parameters": {"password": "new"}}, files=files)
    )

    assert SECRET not in str(redaction.files())


def test_what_sinks_sign_with_is_masked_wherever_it_is():
    sink = {"type": "webhook", "target": "https://hooks.example.org/", "secret": SECRET}
    redaction = Redaction(
        RawTemplate(
            template={"heat_template_version": "2021-04-16"},
            environment={"event_sinks": [sink, {"type": "notification"}]},
            files={
                "env.yaml": "event_sinks:\n- type: webhook\n  secret: sesame\n  target: https://other\n",
                "run.sh": f"verify --with '{SECRET}'\n",
            },
        )
    )

    assert redaction.environment()["event_sinks"] == [sink | {"secret": "******"}, {"type": "notification"}]
    assert "sesame" not in redaction.files()["env.yaml"]
    assert SECRET not in redaction.files()["run.sh"]
