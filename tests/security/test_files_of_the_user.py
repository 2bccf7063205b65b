# SPDX-License-Identifier: Apache-2.0
"""A template that was fetched over HTTP named a file of the user's, and the command line sent it along.

``get_file: file:///home/me/.ssh/id_rsa`` in a stranger's template put the key into the
stack, where the same template could hand it to a server.
"""

from __future__ import annotations

import functools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from heatconv.client.source import collect
from heatconv.errors import UserError

SECRET = "the user's own"
REFUSED = "what comes over HTTP may refer to what comes over HTTP only"


class _Stranger(BaseHTTPRequestHandler):
    """Serves texts by their paths; one that begins with ``->`` is a redirect."""

    def __init__(self, texts, *arguments):
        self._texts = texts
        super().__init__(*arguments)

    def do_GET(self):
        text = self._texts.get(self.path)
        if text is not None and text.startswith("->"):
            self.send_response(302)
            self.send_header("Location", text[2:])
            self.end_headers()
            return
        self.send_response(404 if text is None else 200)
        self.end_headers()
        self.wfile.write((text or "").encode())

    def log_message(self, *_said):
        pass


@pytest.fixture
def stranger():
    """Return the texts that a stranger's server has by path, and its URL."""
    texts: dict[str, str] = {}
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Stranger, texts)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield texts, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Return the path of a file of the user's."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "own.yaml"
    path.write_text(json.dumps({"outputs": {"o": {"value": SECRET}}}))
    return path


def template(resources):
    return json.dumps({"heat_template_version": "2021-04-16", "resources": resources})


def getting(reference):
    return template({"R": {"type": "OS::Heat::Value", "properties": {"value": {"get_file": reference}}}})


WAYS = {
    "a URL of a file": "file://{path}",
    "with a host": "file://localhost{path}",
    "in capitals": "FILE://{path}",
    "with one slash": "file:{path}",
    "another scheme": "ftp://{path}",
}


def refuses(own, place, environments=()):
    with pytest.raises(UserError) as refused:
        collect(place, environments)
    assert SECRET not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_a_template_from_afar_cannot_name_a_file(own, stranger, way):
    texts, url = stranger
    reference = way.format(path=own)
    texts["/file.yaml"] = getting(reference)
    texts["/type.yaml"] = template({"R": {"type": reference}})

    for name in ("file", "type"):
        assert refuses(own, f"{url}/{name}.yaml") == (
            f"{url}/{name}.yaml refers to {reference}: {REFUSED}."
            " Save it to a file of your own if you want that sent."
        )


def test_a_path_is_one_of_the_server_s(own, stranger):
    texts, url = stranger
    texts["/a.yaml"] = getting(str(own))
    texts[str(own)] = "the stranger's own"

    assert collect(f"{url}/a.yaml")["files"] == {f"{url}{own}": "the stranger's own"}


def test_nor_can_one_that_is_named_by_a_file_of_the_user_s(own, stranger):
    texts, url = stranger
    texts["/a.yaml"] = getting(f"file://{own}")
    mine = own.with_name("mine.yaml")
    mine.write_text(template({"R": {"type": f"{url}/a.yaml"}}))
    registry = own.with_name("registry.yaml")
    registry.write_text(json.dumps({"resource_registry": {"Their::Type": f"{url}/a.yaml"}}))

    assert REFUSED in refuses(own, str(mine))
    assert REFUSED in refuses(own, None, [str(registry)])


@pytest.mark.parametrize(
    "registry",
    [
        {"Their::Type": "file://{path}"},
        {"base_url": "file://{parent}", "Their::Type": "own.yaml"},
        {"resources": {"R": {"base_url": "file://{parent}", "Their::Type": "own.yaml"}}},
        {"base_url": "FILE://{parent}", "Their::Type": "own.yaml"},
    ],
)
def test_an_environment_from_afar_cannot_either(own, stranger, registry):
    texts, url = stranger
    text = json.dumps({"resource_registry": registry})
    texts["/env.yaml"] = text.replace("{path}", str(own)).replace("{parent}", str(own.parent))

    assert REFUSED in refuses(own, None, [f"{url}/env.yaml"])


def test_a_redirect_leads_to_no_file(own, stranger):
    texts, url = stranger
    texts["/a.yaml"] = getting(f"{url}/elsewhere")
    texts["/elsewhere"] = f"->file://{own}"

    assert "cannot be read" in refuses(own, f"{url}/a.yaml")


def test_what_the_user_wrote_may_name_files(own, stranger):
    texts, url = stranger
    texts["/types/theirs.yaml"] = template({})
    registry = own.with_name("registry.yaml")
    types = {"base_url": f"{url}/types", "Their::Type": "theirs.yaml", "My::Type": f"file://{own}"}
    registry.write_text(json.dumps({"resource_registry": types}))

    files = collect(None, [str(registry)])["files"]

    assert SECRET in files["own.yaml"]
    assert files[f"{url}/types/theirs.yaml"] == template({})
