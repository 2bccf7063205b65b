# SPDX-License-Identifier: Apache-2.0
"""An attacker who may only read signalled all the same, with signed URLs that were shown to it.

Attributes, outputs, configs and metadata had them.  They never ended: one
counted for whatever had the name of its resource later on.
"""

from __future__ import annotations

import time
import uuid

import pytest
import requests

from heatconv import errors
from heatconv.model.ids import made_at, new_id
from heatconv.signing import Signer, without_signatures
from tests.functional.waiting import until

VERSION = {"heat_template_version": "2021-04-16"}


def template(handle="OS::Heat::WaitConditionHandle", version=0, **more):
    resources = {
        "handle": {"type": handle},
        "group": {
            "type": "OS::Heat::AutoScalingGroup",
            "properties": {"min_size": 0, "max_size": 1, "resource": {"type": "OS::Heat::None"}},
        },
        "policy": {
            "type": "OS::Heat::ScalingPolicy",
            "properties": {
                "auto_scaling_group_id": {"get_resource": "group"},
                "adjustment_type": "exact_capacity",
                "scaling_adjustment": 1,
            },
        },
        "config": {"type": "OS::Heat::SoftwareConfig", "properties": {"config": "echo"}},
        "deployment": {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {"config": {"get_resource": "config"}, "server": "s1", "actions": ["CREATE"]},
        },
        "copy": {
            "type": "OS::Heat::Value",
            "properties": {"value": {"get_attr": ["handle", "signal"]}},
            "metadata": {"version": version},
        },
    }
    outputs = {
        "endpoint": {"value": {"get_attr": ["handle", "endpoint"]}},
        "curl": {"value": {"get_attr": ["handle", "curl_cli"]}},
        "alarm": {"value": {"get_attr": ["policy", "alarm_url"]}},
    }
    return {**VERSION, "resources": {**resources, **more}, "outputs": outputs}


HANDLE = {**VERSION, "resources": {"handle": {"type": "OS::Heat::WaitConditionHandle"}}}


def created(installation, body, *, status="CREATE_COMPLETE"):
    name = f"s-{uuid.uuid4().hex[:8]}"
    answer = installation.ask("owner", "POST", "/stacks", json={"stack_name": name, "template": body})
    assert answer.status_code == 201, answer.text
    path = f"/stacks/{name}/{answer.json()['stack']['id']}"
    if status:
        settled(installation, path, status)
    return path


def settled(installation, path, status):
    until(lambda: installation.ask("owner", "GET", path).json()["stack"]["stack_status"] == status)


def updated(installation, path, body):
    answer = installation.ask("owner", "PUT", path, json={"template": body})
    assert answer.status_code == 202, answer.text
    settled(installation, path, "UPDATE_COMPLETE")


def endpoint(installation, path):
    shown = installation.ask("owner", "GET", f"{path}/resources/handle").json()["resource"]
    return shown["attributes"]["endpoint"]


def test_who_may_not_signal_is_shown_no_signed_url(by_password):
    path = created(by_password, template(), status=None)
    metadata = "/software_deployments/metadata/s1"
    until(lambda: "deploy_signal_id" in by_password.ask("owner", "GET", metadata).text)
    until(lambda: by_password.ask("owner", "GET", f"{path}/resources/copy").json()["resource"]["attributes"])
    until(lambda: by_password.ask("owner", "GET", f"{path}/outputs/alarm").json()["output"]["output_value"])
    config = by_password.ask("owner", "GET", metadata).json()["metadata"][0]["id"]
    shown = [
        path,
        *(f"{path}/outputs/{key}" for key in ("endpoint", "curl", "alarm")),
        *(f"{path}/resources/{name}" for name in ("handle", "policy", "copy")),
        f"{path}/resources?with_detail=true",
        f"/software_configs/{config}",
        metadata,
    ]
    for each in shown:
        theirs, ours = (by_password.ask(user, "GET", each) for user in ("auditor", "owner"))
        assert (theirs.status_code, ours.status_code) == (200, 200), each
        assert "signature=" in ours.text, each
        assert "signature=******" not in ours.text, each
        assert theirs.text == without_signatures(ours.text), each
        assert "signature=******" in theirs.text, each
    assert "signature=******" not in by_password.ask("server", "GET", metadata).text


def test_a_signed_url_dies_with_its_resource(by_password):
    path = created(by_password, HANDLE)
    url = endpoint(by_password, path)
    assert requests.post(url, json={}, timeout=30).status_code == 200

    updated(by_password, path, VERSION | {"resources": {}})
    assert requests.post(url, json={}, timeout=30).status_code == 404
    updated(by_password, path, HANDLE)  # another one of the same name

    assert requests.post(url, json={}, timeout=30).status_code == 404
    renewed = endpoint(by_password, path)
    assert renewed != url
    assert requests.post(renewed, json={}, timeout=30).status_code == 200


def test_a_signed_url_is_not_for_what_replaced_its_resource(by_password):
    handle = {"handle": {"type": "OS::Heat::UpdateWaitConditionHandle"}}
    outputs = {"url": {"value": {"get_resource": "handle"}}}
    replaced = {**VERSION, "resources": handle, "outputs": outputs}
    signal = {"Status": "SUCCESS", "Reason": "up", "Data": "", "UniqueId": "1"}
    path = created(by_password, replaced)
    url = by_password.ask("owner", "GET", f"{path}/outputs/url").json()["output"]["output_value"]

    updated(by_password, path, replaced)

    assert requests.post(url, json=signal, timeout=30).status_code == 404
    renewed = by_password.ask("owner", "GET", f"{path}/outputs/url").json()["output"]["output_value"]
    assert requests.post(renewed, json=signal, timeout=30).status_code == 200


# -- their end ------------------------------------------------------------------------------------


def made(seconds_ago):
    """Return the id of a resource that was made so long ago."""
    digits = f"{int((time.time() - seconds_ago) * 1000):012x}"
    return f"{digits[:8]}-{digits[8:]}-7000-8000-000000000000"


def verify(signer, resource):
    path, _, query = (
        signer.signal_url("web", "shop", "id", resource).removeprefix("http://heat").partition("?")
    )
    signer.verify(path, dict(pair.split("=") for pair in query.split("&")))


@pytest.mark.parametrize(
    ("lifetime", "age", "counts"), [(100, 50, True), (100, 150, False), (0, 10**8, True)]
)
def test_a_signed_url_has_an_end(lifetime, age, counts):
    signer = Signer(b"s" * 32, "http://heat", lifetime=lifetime)
    if counts:
        verify(signer, made(age))
    else:
        with pytest.raises(errors.Forbidden, match="expired"):
            verify(signer, made(age))


def test_with_an_end_one_that_has_only_a_name_does_not_count():
    with pytest.raises(errors.Forbidden, match="expired"):
        verify(Signer(b"s" * 32, "http://heat", lifetime=100), "handle")
    verify(Signer(b"s" * 32, "http://heat"), "handle")


def test_an_id_tells_when_it_was_made():
    before = int(time.time() * 1000) / 1000
    found = made_at(new_id())
    assert found is not None
    assert before <= found <= time.time()
    assert made_at("handle") is None
    assert made_at(str(uuid.uuid4())) is None


@pytest.mark.parametrize("equals", ["=", "%3D", "%253D"])
def test_signatures_are_found_where_urls_are_quoted(equals):
    text = f"http://a?signature{equals}{'aZ09-_' * 7}x&b"
    assert without_signatures(text) == f"http://a?signature{equals}******&b"
    assert without_signatures("the signature=short of it") == "the signature=short of it"
