# SPDX-License-Identifier: Apache-2.0
"""``stack plan``, ``stack apply``, ``stack update --plan`` and ``plan ...``, against made-up plans."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from tests.plan_judge import judged
from tests.unit.cli.http_server import serving
from tests.unit.cli.made_up_plans import ID, change, plan, resource
from tests.unit.cli.plan_service import PlanService

TEMPLATE = "heat_template_version: 2018-08-31\nresources:\n  a: {type: OS::Heat::None}\n"
SVG = "{http://www.w3.org/2000/svg}"

CHANGING = plan(
    resource("port", "replace", replaced_because=["network cannot be updated"]),
    resource(
        "server",
        possible=True,
        changes=[change("address", "10.0.0.1", None, unknown=True, equal=None)],
        hangs_on=[{"path": ["port"], "attribute": "address", "sentence": "the address of port"}],
        because=[{"sentence": "properties.address follows port", "via": [["port"]]}],
    ),
    *(resource(f"workers.{at}", changes=[change("image", "a", "b")]) for at in range(400)),
    resource("monitor", "check", because=[{"sentence": "it follows server", "via": [["server"], ["port"]]}]),
    untouched=9994,
    seconds=40,
)
BROKEN = plan(
    resource("database", "delete"),
    guards=[{"rule": "keep", "sentence": "The database stays.", "resources": [["database"]]}],
)


@pytest.fixture
def service():
    return PlanService()


@pytest.fixture
def endpoint(service):
    with serving(service) as url:
        yield url


@pytest.fixture
def template(tmp_path):
    path = tmp_path / "web.yaml"
    path.write_text(TEMPLATE)
    return str(path)


def test_the_exit_code_says_whether_anything_would_change(run, service):
    command = ("stack", "plan", "web", "--existing")
    assert run(*command).code == 0
    service.plan = plan(resource("a", "check", possible=True), untouched=3)
    assert run(*command).code == 0
    for action in ("create", "update", "replace", "delete", "retain", "heal", "adopt"):
        service.plan = plan(resource("a", action, possible=True))
        assert run(*command).code == 2
    service.plan = BROKEN
    ran = run(*command)
    assert (ran.code, ran.err) == (1, f"Plan {ID} cannot be applied: it breaks keep.\n")
    assert "Breaks the rule keep: The database stays.\n" in ran.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("stack", "plan"),
        ("stack", "plan", "web", "--explode"),
        ("stack", "plan", "web", "--format", "png"),
        ("stack", "plan", "web", "--rollback", "--delete"),
        ("stack", "plan", "web", "--allow", "anything"),
        ("stack", "plan", "web", "--delete", "--parameter", "a=1"),
        ("stack", "plan", "web", "--rollback", "-t", "/no/such/file"),
    ],
)
def test_what_is_no_plan_is_1_however_it_came_about(run, service, arguments):
    assert run(*arguments).code == 1
    assert service.bodies == []


def test_a_plan_is_asked_for_with_what_an_update_takes(run, service, template):
    run(
        "stack",
        "plan",
        "web",
        "-t",
        template,
        "--parameter",
        "a=1",
        "--tags",
        "x",
        "--refresh",
        "--allow",
        "replace",
    )
    run("stack", "plan", "web", "--existing", "--clear-parameter", "b")
    run("stack", "plan", "web", "--rollback")
    run("stack", "plan", "s1", "--delete", "--refresh")
    whole, existing, back, gone = service.bodies
    assert whole == {
        "action": "update",
        "existing": False,
        "refresh": True,
        "allow": ["replace"],
        "template": TEMPLATE,
        "files": {},
        "parameters": {"a": "1"},
        "tags": "x",
    }
    assert existing == {
        "action": "update",
        "existing": True,
        "files": {},
        "parameters": {},
        "clear_parameters": ["b"],
    }
    assert back == {"action": "rollback"}
    assert gone == {"action": "delete", "refresh": True}


def test_a_stack_that_is_not_there_yet_is_planned_to_be_created(run, service, template):
    service.plan = plan(resource("a", "create"), action="create", stack={"id": None, "name": "new"})
    for command in (("new",), ("web", "--create")):
        ran = run("stack", "plan", *command, "-t", template)
        assert ran.code == 2
        assert ran.out.startswith(f"create new  plan {ID}\n")
    assert [body["stack_name"] for body in service.bodies] == ["new", "web"]
    assert {body["template"] for body in service.bodies} == {TEMPLATE}
    for option in ("--existing", "--delete", "--rollback"):
        assert run("stack", "plan", "other", option).code == 1
    assert len(service.bodies) == 2


def test_it_is_a_tree_with_signs_and_reasons(run, service):
    service.plan = CHANGING
    ran = run("stack", "plan", "web", "--existing")
    assert (ran.code, ran.err) == (2, "")
    assert (
        ran.out
        == f"""\
update web  plan {ID}
It can be applied until 2026-02-01T12:00:00Z: heatconv stack apply {ID}

-/+   port  OS::Nova::Server  id-of-port
        replaced since network cannot be updated
~ ?   server  OS::Nova::Server  id-of-server
        address: "10.0.0.1" -> (known later)
        because properties.address follows port
        hangs on the address of port
      workers
  ~     400 members of workers: image  (0, 1, 2, ...)  OS::Nova::Server
          image: "a" -> "b"
*     monitor  OS::Nova::Server  id-of-monitor
        because it follows server (by way of port > server)

0 to create, 1 to replace, 401 to update (1 possible), 0 to delete, 1 to check; 9,994 untouched; about 40 s
"""
    )


def test_only_changes_leaves_out_reasons_and_what_is_only_looked_at(run, service):
    service.plan = CHANGING
    out = run("stack", "plan", "web", "--existing", "--only", "changes").out
    assert 'address: "10.0.0.1" -> (known later)' in out
    assert "because" not in out
    assert "monitor" not in out
    assert "1 to check" in out


def test_a_terminal_has_colours_unless_it_wants_none(run, service, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    service.plan = CHANGING
    colours = re.compile(r"\x1b\[[0-9;]*3[0-9]m")
    coloured = run("stack", "plan", "web", "--existing", terminal=True).out
    assert colours.search(coloured)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colours.search(run("stack", "plan", "web", "--existing", terminal=True).out)
    plain = run("stack", "plan", "web", "--existing").out
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_json_is_the_plan_and_the_file_has_it_too(run, service, tmp_path):
    service.plan = CHANGING
    file = tmp_path / "plan.json"
    ran = run("stack", "plan", "web", "--existing", "--format", "json", "--out", str(file))
    assert ran.code == 2
    assert judged(ran.json) == CHANGING
    assert json.loads(file.read_text()) == CHANGING
    service.plan = plan()
    run("stack", "plan", "web", "--existing", "--out", str(file))
    assert json.loads(file.read_text()) == service.plan


def test_nothing_is_asked_for_if_the_file_cannot_be_written(run, service):
    ran = run("stack", "plan", "web", "--existing", "--out", "/no/such/place")
    assert (ran.code, ran.err) == (1, "/no/such/place cannot be written: No such file or directory.\n")
    assert service.bodies == []


def test_a_graph_has_a_box_for_what_is_alike_and_an_arrow_where_a_change_goes_on(run, service):
    service.plan = CHANGING
    drawing = ET.fromstring(run("stack", "plan", "web", "--existing", "--format", "svg").out)
    boxes = {group.findtext(f"{SVG}text"): group for group in drawing.iter(f"{SVG}g")}
    assert set(boxes) == {"port", "server", "monitor", "workers/0 and 399 alike"}
    assert len([path for path in drawing.iter(f"{SVG}path") if path.get("marker-end")]) == 2
    legend = {text.text for text in drawing.findall(f"{SVG}text")}
    assert legend >= {"401 update", "1 replace", "1 check"}
    texts = [each.text for each in boxes["server"].iter(f"{SVG}text")]
    assert texts == ["server", "OS::Nova::Server", "update (possible)"]
    dot = run("stack", "plan", "web", "--existing", "--format", "dot").out
    assert '  "port" -> "server";\n' in dot
    assert '  "server" -> "monitor";\n' in dot
    assert '"port" [label="port\\nOS::Nova::Server\\nreplace", fillcolor="#f8d3d0"];' in dot


def members(groups):
    """Yield groups of 500 members, each a stack with a server that is to have a name of its own."""
    for group in range(groups):
        for member in range(500):
            path = f"group_{group}.{member}"
            yield resource(path, possible=True, because=[{"sentence": "it is wanted otherwise", "via": []}])
            values = [change("image", "a", "b"), change("name", f"old {member}", f"new {group} {member}")]
            yield resource(f"{path}.server", changes=values)


#: The program, which says in the end how much memory it had at most.
PROGRAM = """
import sys
from pathlib import Path
from heatconv.cli.main import main

code = main()
status = Path("/proc/self/status").read_text().splitlines()
print(*(line for line in status if "VmHWM" in line), file=sys.stderr)
sys.exit(code)
"""


def printed(endpoint, form="text"):
    """Return what the program prints, and the most memory that it had, in kilobytes."""
    command = (sys.executable, "-c", PROGRAM, "--endpoint", endpoint, "plan", "show", ID, "--format", form)
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout, int(done.stderr.split()[-2])


def test_a_hundred_thousand_members_of_groups_are_a_few_lines_and_little_memory(service, endpoint):
    service.resources = members(1)
    _, usual = printed(endpoint)
    service.resources = members(100)
    out, most = printed(endpoint)
    assert len(out) < 2000
    assert "      100 resources  (group_0, group_1, group_2, ...)" in out.decode().splitlines()
    assert "  ~ ?   500 members of each  (0, 1, 2, ...)  OS::Nova::Server" in out.decode().splitlines()
    # They are 56 MB of JSON, and would be 200 MB of Python objects.
    assert most - usual < 60_000


def test_a_hundred_thousand_members_are_written_as_they_come(service, endpoint):
    service.resources = members(1)
    _, usual = printed(endpoint, "json")
    service.resources = members(20)
    out, most = printed(endpoint, "json")
    assert len(json.loads(out)["resources"]) == 20_000
    assert most - usual < 10_000


def test_a_plan_is_applied_by_its_id_or_by_its_file(run, service, tmp_path):
    service.plan = CHANGING
    file = tmp_path / "plan.json"
    run("stack", "plan", "web", "--existing", "--out", str(file))
    for name in (ID, str(file)):
        ran = run("stack", "apply", name, "-f", "json")
        assert ran.code == 0
        assert ran.json["stack_status"] == "UPDATE_COMPLETE"
    applied = [path for method, path, _ in service.asked if method == "POST" and path.endswith("/apply")]
    assert applied == [f"/v1/default/plans/{ID}/apply"] * 2


def test_applying_is_seen_through_to_the_end_that_was_planned(run, service):
    service.plan = CHANGING
    assert run("stack", "apply", ID, "--wait", "--poll", "0.01").code == 0
    service.stack["stack_status"] = "UPDATE_FAILED"
    ran = run("stack", "apply", ID, "--wait", "--poll", "0.01")
    assert ran.code == 1
    assert ran.err == "Stack web did not reach UPDATE_COMPLETE, it is UPDATE_FAILED: done\n"
    service.plan = plan(action="rollback")
    assert "did not reach ROLLBACK_COMPLETE" in run("stack", "apply", ID, "--wait").err


def test_a_plan_that_does_not_hold_any_more_is_refused_with_the_reason(run, service):
    service.refused = 409, "server was updated by alice at noon: make another plan."
    ran = run("stack", "apply", ID)
    assert (ran.code, ran.out, ran.err) == (
        1,
        "",
        "server was updated by alice at noon: make another plan.\n",
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{}", "as 'heatconv stack plan --out"),
        (b'{"id": "x", "schema_version": "2.0"}', "as 'heatconv stack plan --out"),
        (b"resources: []", "is no plan: Expecting one of {"),
        (b"\xff\xfe", "is no plan: 'utf-8' codec"),
    ],
)
def test_what_is_no_plan_is_not_applied(run, service, tmp_path, content, reason):
    file = tmp_path / "plan.json"
    file.write_bytes(content)
    ran = run("stack", "apply", str(file))
    assert ran.code == 1
    assert reason in ran.err
    assert service.asked == []


@pytest.mark.parametrize(("answer", "applied"), [("y\n", 1), ("yes\n", 1), ("n\n", 0), ("\n", 0), ("", 0)])
def test_an_update_with_plan_shows_it_and_asks(run, service, template, monkeypatch, answer, applied):
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    service.plan = CHANGING
    ran = run("stack", "update", "web", "-t", template, "--plan", "-f", "json")
    assert "400 members of workers: image" in ran.err
    assert "Do that? [y/N] " in ran.err
    assert [path for method, path, _ in service.asked if method == "PUT"] == []
    assert len([path for _, path, _ in service.asked if path.endswith("/apply")]) == applied
    if applied:
        assert (ran.code, ran.json["stack_name"]) == (0, "web")
    else:
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.endswith(f"Nothing was done. To do it later: heatconv stack apply {ID}\n")


def test_an_update_whose_plan_breaks_a_rule_is_not_asked_about(run, service, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    service.plan = BROKEN
    ran = run("stack", "update", "web", "--existing", "--plan")
    assert ran.code == 1
    assert "Do that?" not in ran.err
    assert "Breaks the rule keep" in ran.err


def test_a_plan_that_comes_by_pages_is_one_plan(run, service):
    service.plan, service.page = CHANGING, 100

    assert run("stack", "plan", "web", "--existing", "--format", "json").json == CHANGING
    assert run("plan", "show", ID, "--format", "json").json == CHANGING
    pages = [path for method, path, _ in service.asked if method == "GET" and "marker" in path]
    assert pages == [f"/v1/default/plans/{ID}?marker={at}" for at in (100, 200, 300, 400)] * 2


def test_a_plan_without_an_id_is_none(run, service):
    for command in (("plan", "show", ""), ("plan", "delete", ""), ("stack", "apply", "")):
        ran = run(*command)
        assert (ran.code, ran.err) == (1, "There is no plan without an id: name one.\n")
    assert service.asked == []


def test_plans_that_are_kept(run, service):
    service.plan = CHANGING
    (row,) = run("plan", "list", "--limit", "1", "-f", "json").json
    assert (row["id"], row["stack_name"], row["state"]) == (ID, "web", "ready")
    assert row["summary"].startswith("0 to create, 1 to replace, 401 to update")
    assert service.asked[-1][1] == "/v1/default/plans?limit=1"
    assert "400 members of workers: image" in run("plan", "show", ID).out
    assert run("plan", "show", ID, "--format", "json").json == CHANGING
    (row,) = run("plan", "list", "--stack", "web", "-f", "json").json
    assert service.asked[-1][1] == "/v1/default/stacks/web/s1/plans"
    assert run("plan", "delete", ID).code == 0
    assert service.asked[-1][0] == "DELETE"
    assert run("plan", "show", "other").code == 1
