# SPDX-License-Identifier: Apache-2.0
"""What the files of a user make of a request."""

from __future__ import annotations

import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from heatconv.client.source import collect, read_map
from heatconv.errors import UserError

HEAD = "heat_template_version: 2018-08-31\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    return write


def test_a_template_alone_is_sent_as_it_is(write):
    text = HEAD + "resources: {}  # with a comment\n"
    assert collect(write("a.yaml", text)) == {"template": text, "files": {}}


def test_files_are_named_relative_to_the_template(write):
    write("stacks/run.sh", "echo")
    text = HEAD + "resources: {a: {type: OS::Heat::Value, properties: {value: {get_file: run.sh}}}}\n"
    assert collect(write("stacks/a.yaml", text)) == {"template": text, "files": {"run.sh": "echo"}}


def test_the_same_request_comes_of_every_checkout(write):
    bodies = []
    for root in ("here", "there/too"):
        write(f"{root}/common/run.sh", "echo")
        write(f"{root}/stacks/nested/b.yaml", HEAD + "outputs: {o: {value: {get_file: ../../common/run.sh}}}")
        template = write(f"{root}/stacks/a.yaml", HEAD + "resources: {b: {type: nested/b.yaml}}")
        bodies.append(collect(template))
    assert bodies[0] == bodies[1]
    assert set(bodies[0]["files"]) == {"nested/b.yaml", "../common/run.sh"}


def test_references_of_a_nested_template_are_renamed_to_what_is_sent(write):
    write("nested/run.sh", "echo")
    write("nested/b.yaml", HEAD + "outputs: {o: {value: {get_file: run.sh}}}")
    body = collect(write("a.yaml", HEAD + "resources: {b: {type: nested/b.yaml}}"))
    nested = json.loads(body["files"]["nested/b.yaml"])
    assert nested["outputs"]["o"]["value"] == {"get_file": "nested/run.sh"}
    assert nested["heat_template_version"] == "2018-08-31"
    assert body["files"]["nested/run.sh"] == "echo"


def test_environments_are_sent_in_order_with_what_they_refer_to(write):
    write("envs/types/b.yaml", HEAD)
    one = write("envs/one.yaml", "resource_registry: {'My::B': types/b.yaml, 'My::C': 'OS::Heat::None'}")
    two = write("two.yaml", "parameters: {size: 1}")
    body = collect(write("a.yaml", HEAD), [one, two])
    assert body["environment_files"] == ["envs/one.yaml", "two.yaml"]
    registry = json.loads(body["files"]["envs/one.yaml"])["resource_registry"]
    assert registry == {"My::B": "envs/types/b.yaml", "My::C": "OS::Heat::None"}
    assert body["files"]["envs/types/b.yaml"] == HEAD
    assert body["files"]["two.yaml"] == "parameters: {size: 1}"


def test_what_a_registry_names_is_beside_its_base_url(write, tmp_path):
    write("types/b.yaml", HEAD)
    write("more/c.yaml", HEAD)
    environment = write(
        "envs/one.yaml",
        f"""
        resource_registry:
          base_url: file://{tmp_path}/types
          My::B: b.yaml
          resources:
            one: {{My::B: b.yaml, hooks: pre-create}}
            two: {{base_url: {tmp_path}/more/, My::C: c.yaml}}
        """,
    )
    body = collect(write("a.yaml", HEAD), [environment])
    registry = json.loads(body["files"]["envs/one.yaml"])["resource_registry"]
    assert registry["My::B"] == "types/b.yaml"
    assert registry["resources"]["one"] == {"My::B": "types/b.yaml", "hooks": "pre-create"}
    assert registry["resources"]["two"]["My::C"] == "more/c.yaml"
    assert set(body["files"]) == {"envs/one.yaml", "types/b.yaml", "more/c.yaml"}


def test_a_registry_that_says_a_thing_twice_with_one_alias(write):
    write("types/b.yaml", HEAD)
    text = "resource_registry: {resources: {one: &b {My::B: types/b.yaml}, two: *b}}"
    body = collect(write("a.yaml", HEAD), [write("one.yaml", text)])
    assert body["files"] == {"one.yaml": text, "types/b.yaml": HEAD}


def test_a_template_that_contains_itself_is_read_once(write):
    text = HEAD + "resources: {b: {type: a.yaml}}"
    assert collect(write("a.yaml", text)) == {"template": text, "files": {"a.yaml": text}}


def test_absolute_names_and_file_urls(write):
    script = write("elsewhere/run me.sh", "echo")
    url = f"file://{script.replace(' ', '%20')}"
    for reference in (script, url):
        body = collect(
            write("stacks/a.yaml", HEAD + f"outputs: {{o: {{value: {{get_file: '{reference}'}}}}}}")
        )
        assert body["files"] == {"../elsewhere/run me.sh": "echo"}
        assert json.loads(body["template"])["outputs"]["o"]["value"] == {"get_file": "../elsewhere/run me.sh"}


def test_what_a_url_refers_to_is_read_beside_it(write, tmp_path):
    write("web/a.yaml", HEAD + "outputs: {o: {value: {get_file: run.sh}}}")
    write("web/run.sh", "echo")
    handler = partial(_Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        base = f"http://127.0.0.1:{server.server_port}/web"
        try:
            body = collect(f"{base}/a.yaml")
            assert body["files"] == {f"{base}/run.sh": "echo"}
            assert json.loads(body["template"])["outputs"]["o"]["value"] == {"get_file": f"{base}/run.sh"}
            with pytest.raises(UserError, match=r"/web/none\.yaml cannot be read: 404"):
                collect(f"{base}/none.yaml")
        finally:
            server.shutdown()
            thread.join()


def test_what_cannot_be_read_is_named_with_who_wants_it(write):
    template = write("a.yaml", HEAD + "outputs: {o: {value: {get_file: none.sh}}}")
    with pytest.raises(UserError, match=r"none\.sh, which .*a\.yaml refers to, cannot be read: No such file"):
        collect(template)
    with pytest.raises(UserError, match="cannot be read"):
        collect("none.yaml")


def test_what_is_no_text_is_refused(write, tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="is not UTF-8 text"):
        collect("a.yaml")


def test_a_file_that_is_no_text_goes_in_base64(write, tmp_path):
    (tmp_path / "image").write_bytes(b"\xff\xfe")
    body = collect(write("a.yaml", HEAD + "outputs: {o: {value: {get_file: image}}}"))
    assert body["files"] == {"image": "//4=\n"}


def test_a_map_may_be_written_in_json_or_yaml(write):
    assert read_map(write("a.json", '{"a": 1}')) == read_map(write("a.yaml", "a: 1")) == {"a": 1}
    with pytest.raises(UserError, match=r"list\.yaml has no map in it"):
        read_map(write("list.yaml", "[1]"))
    with pytest.raises(UserError, match="is neither JSON nor YAML"):
        read_map(write("broken.yaml", "a: ["))


def test_broken_yaml_is_left_to_the_service(write):
    assert collect(write("a.yaml", "a: [")) == {"template": "a: [", "files": {}}


def test_an_alias_bomb_goes_off_nowhere(write):
    lines = ["a0: &a0 {get_file: run.sh}"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    write("run.sh", "echo")
    text = "\n".join(lines)
    assert collect(write("bomb.yaml", text)) == {"template": text, "files": {"run.sh": "echo"}}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_arguments):
        pass
