# SPDX-License-Identifier: Apache-2.0
"""An attacker who may only read read a hidden parameter, by previews of updates.

A PATCH keeps the stored values, and the template may be another one: without
``hidden``, with constraints, with conditions.  What is wrong with it, and what
would change, told the secret; a PUT told whether a guess was right.  A nested
stack showed what the stack around it hides.
"""

from __future__ import annotations

import json
import uuid

import pytest

from tests.functional.waiting import until

SECRET = "correct-horse-battery-staple"
VERSION = {"heat_template_version": "2021-04-16"}
TEMPLATE = {
    **VERSION,
    "parameters": {"password": {"type": "string", "hidden": True}},
    "resources": {"login": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "password"}}}},
}
INNER = json.dumps(
    {
        **VERSION,
        "parameters": {"word": {"type": "string"}},
        "resources": {"inner": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "word"}}}},
    }
)


def showing(**of_the_parameter):
    """Return the template without ``hidden``, and more said of its parameter."""
    return TEMPLATE | {"parameters": {"password": {"type": "string", **of_the_parameter}}}


def chosen_by(condition):
    """Return a template with a resource that is there if something holds."""
    resource = {"type": "OS::Heat::None", "condition": "holds"}
    return showing() | {"conditions": {"holds": condition}, "resources": {"oracle": resource}}


#: What tells of the stored value, by what a PATCH brings: with a right guess, and with a wrong one.
QUESTIONS = {
    "it is shown": ({"template": showing()}, {"template": showing(label="another")}),
    "it is matched": tuple(
        {"template": showing(constraints=[{"allowed_pattern": pattern}])} for pattern in ("c.*", "d.*")
    ),
    "it is compared": tuple(
        {"template": chosen_by({"equals": [{"get_param": "password"}, guess]})} for guess in (SECRET, "no")
    ),
    "it is given": tuple({"parameters": {"password": guess}} for guess in (SECRET, "no")),
    "another type": tuple(
        {"environment": {"resource_registry": {"OS::Heat::Value": file}}, "files": {file: INNER}}
        for file in ("a.yaml", "b.yaml")
    ),
}


@pytest.fixture
def path(by_password):
    """Return the URL of a stack of ``mine`` whose parameter is hidden."""
    return created(by_password, TEMPLATE)


def created(installation, template, **more):
    name = f"s-{uuid.uuid4().hex[:8]}"
    body = {"stack_name": name, "template": template, "parameters": {"password": SECRET}, **more}
    made = installation.ask("owner", "POST", "/stacks", json=body)
    assert made.status_code == 201, made.text
    path = f"/stacks/{name}/{made.json()['stack']['id']}"
    settled(installation, path, "CREATE_COMPLETE")
    return path


def settled(installation, path, status):
    until(lambda: installation.ask("owner", "GET", path).json()["stack"]["stack_status"] == status)


def preview(installation, user, method, path, body):
    return installation.ask(user, method, f"{path}/preview?show_nested=true", json=body)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_reader_learns_nothing_from_a_preview(by_password, path, question):
    right, wrong = (preview(by_password, "auditor", "PATCH", path, body) for body in QUESTIONS[question])

    assert SECRET not in right.text
    assert (right.status_code, right.json()["error"]["message"]) == (
        403,
        "You are not authorized to do this: policy stacks:update_patch does not allow it.",
    )
    assert right.json()["error"] == wrong.json()["error"]


def test_a_reader_does_not_learn_whether_a_guess_is_right(by_password, path):
    answers = [
        preview(
            by_password, "auditor", "PUT", path, {"template": TEMPLATE, "parameters": {"password": guess}}
        )
        for guess in (SECRET, "no")
    ]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert answers[0].json()["error"] == answers[1].json()["error"]


def test_a_reader_may_look_at_what_is_there(by_password, path):
    answer = preview(by_password, "auditor", "PATCH", path, {})

    assert answer.status_code == 200, answer.text
    (login,) = answer.json()["resource_changes"]["unchanged"]
    assert login["resource_name"] == "login"
    assert SECRET not in answer.text


#: What shows the stored value to whoever may update, too, unless it stays hidden.
WAYS = {
    "its property": {"template": showing()},
    "a constraint": {"template": showing(constraints=[{"allowed_values": ["a"]}])},
    "its type": {"template": showing() | {"parameters": {"password": {"type": "number"}}}},
    "a file that was kept": {
        "template": TEMPLATE
        | {"resources": {"r": {"type": "OS::Heat::Value", "properties": {"value": {"get_file": "env"}}}}}
    },
    "a default": {
        "template": TEMPLATE
        | {
            "parameters": {"default": {"type": "string"}},
            "resources": {
                "r": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "default"}}}
            },
        }
    },
    "a nested stack": {
        "template": showing()
        | {"resources": {"r": {"type": "inner.yaml", "properties": {"word": {"get_param": "password"}}}}},
        "files": {"inner.yaml": INNER},
    },
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_hidden_stays_hidden_from_whoever_may_update(by_password, way):
    environment = {"parameters": {"password": SECRET}, "parameter_defaults": {"default": SECRET}}
    template = TEMPLATE | {
        "parameters": {name: {"type": "string", "hidden": True} for name in ("password", "default")}
    }
    given = {"files": {"env": json.dumps(environment)}, "environment_files": ["env"], "parameters": {}}
    path = created(by_password, template, **given)

    answer = preview(by_password, "owner", "PATCH", path, WAYS[way])

    assert answer.status_code in (200, 400), answer.text
    assert SECRET not in answer.text


def everything_of(installation, user, path):
    """Return all that somebody is shown of a stack and of those in it."""
    shown = [installation.ask(user, "GET", f"{path}{below}") for below in BELOW]
    for each in shown:
        assert each.status_code == 200, each.text
    resources = shown[BELOW.index("/resources")].json()["resources"]
    texts = [each.text for each in shown]
    for resource in resources:
        one = installation.ask(user, "GET", f"{path}/resources/{resource['resource_name']}?with_attr=show")
        texts.append(one.text)
        for link in resource["links"]:
            if link["rel"] == "nested":
                inside = link["href"].split("/mine", 1)[1]
                texts += everything_of(installation, user, inside)
    return texts


BELOW = ("", "/template", "/environment", "/files", "/resources", "/events", "/snapshots", "/drift", "/graph")


def test_a_value_that_is_kept_stays_hidden_when_an_update_leaves_hidden_out(by_password, path):
    answer = by_password.ask("owner", "PATCH", path, json={"template": showing()})
    assert answer.status_code == 202, answer.text
    settled(by_password, path, "UPDATE_COMPLETE")

    texts = everything_of(by_password, "auditor", path)

    assert SECRET not in "\n".join(texts)
    assert json.loads(texts[0])["stack"]["parameters"]["password"] == "******"


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_value_is_the_same_after_an_update_with_what_was_shown_of_the_stack(by_password, method):
    hidden = {"type": "string", "hidden": True}
    both = {"list_join": ["-", [{"get_param": "other"}, {"get_param": "password"}]]}
    template = {
        **VERSION,
        "parameters": {"password": hidden, "other": hidden | {"default": "sesame"}},
        "resources": {"login": {"type": "OS::Heat::Value", "properties": {"value": both}}},
    }
    path = created(by_password, template)
    shown = {
        each: by_password.ask("owner", "GET", f"{path}/{each}").json() for each in ("template", "environment")
    }
    assert "******" in json.dumps(shown)

    changes = preview(by_password, "owner", method, path, shown).json()["resource_changes"]

    assert [each["resource_name"] for each in changes["unchanged"]] == ["login"]
    assert SECRET not in json.dumps(changes)


def test_what_was_shown_of_a_stack_makes_no_other_one(by_password, path):
    shown = by_password.ask("owner", "GET", f"{path}/environment").json()

    answer = by_password.ask(
        "owner", "POST", "/stacks", json={"stack_name": "other", "template": TEMPLATE, "environment": shown}
    )

    assert answer.status_code == 400
    assert "parameters.password: '******' is what is shown in place of a hidden value" in answer.text


def test_a_value_that_is_given_anew_is_shown_as_the_new_template_says(by_password, path):
    body = {"template": showing(), "parameters": {"password": "no secret"}}
    assert by_password.ask("owner", "PATCH", path, json=body).status_code == 202
    settled(by_password, path, "UPDATE_COMPLETE")

    shown = by_password.ask("auditor", "GET", path).json()["stack"]
    assert shown["parameters"]["password"] == "no secret"


def test_what_a_patch_says_is_hidden_is_hidden(by_password, path):
    template = showing() | {"parameters": {"new": {"type": "string"}}, "resources": {}}
    environment = {"encrypted_param_names": ["new"], "parameters": {"new": SECRET}}
    answer = by_password.ask("owner", "PATCH", path, json={"template": template, "environment": environment})
    assert answer.status_code == 202, answer.text
    settled(by_password, path, "UPDATE_COMPLETE")

    assert SECRET not in "\n".join(everything_of(by_password, "auditor", path))


def test_a_nested_stack_hides_what_the_stack_around_it_hides(by_password):
    outer = TEMPLATE | {
        "resources": {
            "nested": {"type": "inner.yaml", "properties": {"word": {"get_param": "password"}}},
            "group": {
                "type": "OS::Heat::ResourceGroup",
                "properties": {
                    "resource_def": {"type": "inner.yaml", "properties": {"word": {"get_param": "password"}}}
                },
            },
        }
    }
    path = created(by_password, outer, files={"inner.yaml": INNER})

    texts = everything_of(by_password, "auditor", path)

    assert len(texts) > 3 * len(BELOW)
    assert SECRET not in "\n".join(texts)
