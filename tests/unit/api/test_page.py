# SPDX-License-Identifier: Apache-2.0
"""The live page is served to anybody, and lets nothing in from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from falcon import testing

from heatconv.api import deploy
from heatconv.rpc.engine_client import EngineClient

UI = Path(deploy.__file__).parent / "ui"
FILES = re.compile(r"""(?:src|href|from|import)[=\s(]*["']([^"'#][^"']*)["']""")


@pytest.mark.parametrize(
    "path", ["/ui/", "/ui/index.html", "/ui/main.js", "/ui/page.css", "/ui/settings.json"]
)
def test_each_file_is_kept_from_others_pages_and_from_what_is_not_its_own(api, path):
    answer = api.simulate_get(path)
    assert answer.status_code == 200
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self' data:",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_it_is_led_to_where_the_names_in_it_are_right(api):
    answer = api.simulate_get("/ui")
    assert (answer.status_code, answer.headers["location"]) == (301, "ui/")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_whatever_it_names_is_there_and_is_its_own(api):
    seen, left = set(), ["index.html"]
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        answer = api.simulate_get(f"/ui/{name}")
        assert answer.status_code == 200, name
        if name.endswith((".html", ".js")):
            left += [found.removeprefix("./") for found in FILES.findall(answer.text)]
    assert {"main.js", "page.css", "icon.svg"} <= seen
    served = {each.name for each in UI.iterdir()}
    assert served <= seen


def test_texts_of_users_stay_texts(api):
    for each in UI.iterdir():
        text = each.read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
            assert word not in text, each.name
        assert not re.search(r"https?://(?!www\.w3\.org/)", text), each.name


def test_what_the_browser_has_is_not_sent_again(api):
    tag = api.simulate_get("/ui/main.js").headers["etag"]
    answer = api.simulate_get("/ui/main.js", headers={"If-None-Match": tag})
    assert (answer.status_code, answer.text) == (304, "")


@pytest.mark.parametrize("name", ["../deploy.py", "%2e%2e%2fdeploy.py", "nothing.js", "main.js/x"])
def test_nothing_else_is_served(api, name):
    assert api.simulate_get(f"/ui/{name}").status_code == 404


def test_an_operator_can_do_without_it(engine, conf):
    conf.set_override("page", False, "api")
    bare = testing.TestClient(deploy.application(EngineClient(engine), conf))
    assert bare.simulate_get("/ui/").status_code == 404


def test_it_knows_the_clouds_console_if_the_operator_says_where_it_is(engine, conf):
    conf.set_override("console", "https://cloud.example.org/dashboard", "api")
    client = testing.TestClient(deploy.application(EngineClient(engine), conf))
    assert client.simulate_get("/ui/settings.json").json["console"] == "https://cloud.example.org/dashboard"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "cloud.example.org"])
def test_the_clouds_console_is_on_the_web(conf, url):
    with pytest.raises(ValueError, match="scheme"):
        conf.set_override("console", url, "api")


def test_it_is_told_how_to_log_in(api, engine, conf, tmp_path):
    assert api.simulate_get("/ui/settings.json").json == {"login": "none", "console": None}
    (tmp_path / "users").write_text("")
    conf.set_override("strategy", "http_basic", "auth")
    conf.set_override("http_basic_user_file", str(tmp_path / "users"), "auth")
    guarded = testing.TestClient(deploy.application(EngineClient(engine), conf))
    assert guarded.simulate_get("/ui/settings.json").json == {"login": "basic", "console": None}
    assert guarded.simulate_get("/ui/").status_code == 200
    assert guarded.simulate_get("/v1/default/stacks").status_code == 401
