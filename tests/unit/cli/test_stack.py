# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TEMPLATE = "heat_template_version: 2018-08-31\nresources:\n  a: {type: OS::Heat::None}  # kept\n"


@pytest.fixture
def template(tmp_path):
    path = tmp_path / "web.yaml"
    path.write_text(TEMPLATE)
    return str(path)


def ends(engine, action, status, *, resource="a", reason="because"):
    """Return a script step in which a stack comes to its end."""

    def step(stack_id):
        row = engine.stacks[stack_id]
        engine.add_event(stack_id, resource, action, status, reason)
        row.update(action=action, status=status, reason=f"Stack {action} {status}: {reason}", phase="DONE")

    return step


def goes_on(engine, resource, action="CREATE", status="IN_PROGRESS"):
    def step(stack_id):
        engine.add_event(stack_id, resource, action, status)
        engine.stacks[stack_id]["progress"] = {"done": 1, "total": 2}

    return step


def test_create_sends_the_template_as_it_was_written(run, engine, template):
    ran = run(
        *("stack", "create", "web", "-t", template, "--parameter", "size=3", "--parameter", "eq=a=b"),
        *("--timeout", "5", "--enable-rollback", "--tags", "x,y", "-f", "json"),
    )
    assert (ran.code, ran.err) == (0, "")
    (stack_id,) = engine.stacks
    assert ran.json["id"] == stack_id
    assert ran.json["stack_status"] == "CREATE_IN_PROGRESS"
    assert engine.sources[stack_id]["template"] == TEMPLATE
    assert engine.sources[stack_id]["parameters"] == {"size": "3", "eq": "a=b"}
    assert engine.options[stack_id] == {"disable_rollback": False, "timeout_mins": 5, "tags": ["x", "y"]}


def test_create_and_wait_for_the_good_end(run, engine, template):
    engine.script = [goes_on(engine, "a"), goes_on(engine, "b"), ends(engine, "CREATE", "COMPLETE")]
    ran = run("stack", "create", "web", "-t", template, "--wait", "--poll", "0.01", "-f", "json")
    assert ran.code == 0
    assert ran.json["stack_status"] == "CREATE_COMPLETE"
    assert [line.split()[1:3] for line in ran.err.splitlines()] == [
        ["a", "CREATE_IN_PROGRESS"],
        ["b", "CREATE_IN_PROGRESS"],
        ["a", "CREATE_COMPLETE"],
    ]


def test_create_and_wait_for_the_bad_end(run, engine, template):
    engine.script = [goes_on(engine, "a"), ends(engine, "CREATE", "FAILED", reason="no such image")]
    ran = run("stack", "create", "web", "-t", template, "--wait", "--poll", "0.01")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines()[-1] == (
        "Stack web did not reach CREATE_COMPLETE, it is CREATE_FAILED: Stack CREATE FAILED: no such image"
    )


def test_a_create_that_was_rolled_back_is_no_success(run, engine, template):
    engine.script = [ends(engine, "ROLLBACK", "COMPLETE")]
    ran = run("stack", "create", "web", "-t", template, "--wait", "--poll", "0.01")
    assert ran.code == 1
    assert "it is ROLLBACK_COMPLETE" in ran.err


def test_a_terminal_gets_a_bar_and_the_failures(run, engine, template):
    def seen(stack_id):
        engine.add_event(stack_id, "web", "CREATE", "IN_PROGRESS", "Stack CREATE started")

    engine.script = [
        seen,
        goes_on(engine, "alpha"),
        goes_on(engine, "beta"),
        ends(engine, "CREATE", "FAILED", resource="alpha", reason="no such image"),
    ]
    ran = run("stack", "create", "web", "-t", template, "--wait", "--poll", "0.01", terminal=True)
    assert ran.code == 1
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", ran.err)
    assert "alpha  CREATE_FAILED  no such image" in text
    assert "1/2" in text
    assert "web CREATE_FAILED" in text
    assert "Stack CREATE started" not in text


def test_update_is_a_put_and_with_existing_a_patch(run, engine, template):
    stack_id = engine.add_stack("web", tags=["x"])
    assert run("stack", "update", "web", "-t", template).code == 0
    assert engine.sources[stack_id]["template"] == TEMPLATE
    assert engine.options[stack_id] == {"tags": []}

    ran = run("stack", "update", "web", "--existing", "--parameter", "a=1", "--clear-parameter", "b")
    assert ran.code == 0
    assert engine.sources[stack_id] == {"files": {}, "parameters": {"a": "1"}, "clear_parameters": ["b"]}
    assert engine.done == [(stack_id, "update"), (stack_id, "patch")]


def test_waiting_for_an_update_shows_what_happens_from_then_on(run, engine, template):
    stack_id = engine.add_stack("web")
    engine.add_event(stack_id, "long", "CREATE", "COMPLETE", "ago")
    engine.script = [lambda _id: None, ends(engine, "UPDATE", "COMPLETE")]
    ran = run("stack", "update", "web", "-t", template, "--wait", "--poll", "0.01")
    assert ran.code == 0
    assert "long" not in ran.err
    assert "a  UPDATE_COMPLETE" in ran.err


def test_update_without_a_template_says_what_is_missing(run, engine):
    engine.add_stack("web")
    ran = run("stack", "update", "web")
    assert (ran.code, ran.err) == (1, "The request body lacks 'template'.\n")


def test_delete_and_wait(run, engine):
    stack_id = engine.add_stack("web")
    engine.script = [lambda _id: None, goes_on(engine, "a", "DELETE"), ends(engine, "DELETE", "COMPLETE")]
    ran = run("stack", "delete", "web", "--wait", "--poll", "0.01")
    assert (ran.code, ran.out) == (0, "")
    assert engine.done == [(stack_id, "delete")]
    assert "a  DELETE_COMPLETE" in ran.err


def test_a_stack_that_vanishes_while_waited_for_is_deleted(run, engine):
    stack_id = engine.add_stack("web")
    engine.script = [lambda _id: None, lambda _id: engine.stacks.pop(stack_id)]
    ran = run("stack", "delete", "web", "--wait", "--poll", "0.01")
    assert (ran.code, ran.err) == (0, "")


def test_rollback_and_cancel(run, engine):
    stack_id = engine.add_stack("web")
    engine.script = [lambda _id: None, ends(engine, "ROLLBACK", "COMPLETE")]
    assert run("stack", "rollback", "web", "--wait", "--poll", "0.01").code == 0
    assert run("stack", "cancel", "web").code == 0
    assert run("stack", "cancel", "web", "--no-rollback").code == 0
    assert [what for _, what in engine.done] == ["rollback", "cancel rollback=True", "cancel rollback=False"]
    assert {one for one, _ in engine.done} == {stack_id}


def test_preview_of_a_new_stack_and_of_an_update(run, engine, template):
    ran = run("stack", "preview", "web", "-t", template, "-f", "json")
    assert [(row["change"], row["resource_name"]) for row in ran.json] == [("added", "a")]
    assert engine.stacks == {}

    engine.add_resource(engine.add_stack("web"), "b")
    ran = run("stack", "preview", "web", "-t", template, "-f", "json")
    assert [(row["change"], row["resource_name"]) for row in ran.json] == [("unchanged", "b")]
    assert engine.done == []


def test_show_and_list(run, engine):
    stack_id = engine.add_stack("web", parameters={"size": "3"})
    assert run("stack", "show", "web", "-f", "json").json["parameters"] == {"size": "3"}
    assert run("stack", "show", stack_id, "-f", "value", "-c", "stack_name").out == "web\n"
    assert '"size": "3"' in run("stack", "show", "web").out
    assert [row["stack_name"] for row in run("stack", "list", "-f", "json").json] == ["web"]
    assert "web" in run("stack", "list", "-f", "csv").out
    run("stack", "list", "--search", "we", "--tags", "x,y", "--status", "FAILED", "--deleted")
    assert engine.queries[-1]["search"] == "we"
    assert engine.queries[-1]["tags"] == ["x", "y"]
    assert engine.queries[-1]["filters"] == {"status": ["FAILED"]}
    assert engine.queries[-1]["show_deleted"] is True


def test_outputs(run, engine):
    outputs: list[dict[str, Any]] = [
        {"output_key": "ip", "description": "", "output_value": "::1"},
        {"output_key": "all", "description": "", "output_value": ["::1", "::2"]},
    ]
    engine.add_stack("web", outputs=outputs)
    assert run("stack", "output", "show", "web", "ip", "-f", "value", "-c", "output_value").out == "::1\n"
    rows = run("stack", "output", "list", "web", "-f", "json").json
    assert [row["output_value"] for row in rows] == ["::1", ["::1", "::2"]]
    assert "output_error" not in rows[0]
    outputs[0] |= {"output_value": None, "output_error": "not yet"}
    assert run("stack", "output", "list", "web", "-f", "json").json[0]["output_error"] == "not yet"
    assert "None" not in run("stack", "output", "list", "web").out
    ran = run("stack", "output", "show", "web", "other")
    assert (ran.code, ran.err) == (1, "The Output (other) could not be found.\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("stack", "create"),
        ("stack", "create", "web", "-t", "x.yaml", "--parameter", "no-value"),
        ("stack", "delete", "web", "--poll", "0"),
        ("stack", "delete", "web", "--poll", "soon"),
        ("stack", "graph", "web", "--format", "png"),
        ("stack", "explode"),
    ],
)
def test_calling_it_wrongly_is_2(run, arguments):
    assert run(*arguments).code == 2


def test_an_error_is_a_sentence_and_1(run, engine, template):
    engine.add_stack("web")
    ran = run("stack", "create", "web", "-t", template)
    assert (ran.code, ran.out, ran.err) == (1, "", "The Stack (web) already exists.\n")


def test_a_service_that_is_not_there(run):
    ran = run("--endpoint", "http://127.0.0.1:9/v1/default", "stack", "list")
    assert ran.code == 1
    assert "http://127.0.0.1:9/v1/default/stacks cannot be reached" in ran.err
    assert "Traceback" not in ran.err


def test_a_service_that_is_another(run, endpoint):
    ran = run("--endpoint", endpoint.replace("/v1/default", ""), "stack", "show", "web")
    assert ran.code == 1
    assert "/stacks/web is not possible: Not Found" in ran.err


def test_without_a_command_it_explains_itself(run):
    out = run().out
    assert "--endpoint" in out
    assert "stack create" in out


def test_hooks_are_an_environment_that_wins(run, engine, template, tmp_path):
    (tmp_path / "env.yaml").write_text("parameters: {size: 1}")
    ran = run(
        *("stack", "create", "web", "-t", template, "-e", str(tmp_path / "env.yaml")),
        *("--pre-create", "a", "--pre-create", "nested/*"),
    )
    assert ran.code == 0
    (source,) = engine.sources.values()
    first, last = source["environment_files"]
    assert first.endswith("env.yaml")
    assert json.loads(source["files"][last])["resource_registry"]["resources"] == {
        "a": {"hooks": "pre-create"},
        "nested": {"*": {"hooks": "pre-create"}},
    }


def test_nothing_is_abandoned_that_could_not_be_written_down(run, engine):
    engine.add_stack("web")
    ran = run("stack", "abandon", "web", "--output-file", "/no/such/place")
    assert (ran.code, ran.err) == (1, "/no/such/place cannot be written: No such file or directory.\n")


def test_no_stack_is_asked_unless_each_is_there(run, engine):
    stack_id = engine.add_stack("web")
    ran = run("stack", "delete", "web", "other")
    assert (ran.code, ran.err) == (1, "The Stack (other) could not be found.\n")
    assert engine.stacks[stack_id]["action"] == "CREATE"


def test_a_signal_is_a_json_object(run):
    for data in ("[1]", "{"):
        ran = run("resource", "signal", "web", "a", "--data", data)
        assert ran.code == 2


def test_an_unknown_command_is_a_mistake_in_the_call(run):
    assert run("stack", "frobnicate", "web").code == 2


def test_what_completes_the_commands_for_a_shell(run):
    assert "snapshot" in run("complete").out


def test_whoever_stops_reading_sees_no_traceback():
    read, write = os.pipe()
    os.close(read)
    program = Path(sys.executable).with_name("heatconv")
    done = subprocess.run([program, "complete"], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
