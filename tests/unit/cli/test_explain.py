# SPDX-License-Identifier: Apache-2.0
"""An explanation, as people read it."""

from __future__ import annotations

from heatconv.cli.stack_explain import paragraphs

WAIT = {
    "path": "group.0",
    "resource_type": "OS::Nova::Server",
    "action": "CREATE",
    "cause": "RETRY",
    "since": "2026-01-01T00:00:00Z",
    "worker": "w",
    "sentence": "The create did not go on: [bold]503[/bold].",
    "next": "It is tried again.",
    "advice": "Remove what is in the way.",
}
FAILURE = {
    "path": "a.b",
    "resource_type": "A::B",
    "action": "CREATE",
    "reason": "no [red]room[/red]",
    "physical_id": "id-1",
}


def explanation(**of):
    about = {"stack": {"name": "web", "id": "1"}, "sentence": "web is so.", "deadline": None, "more": False}
    return {**about, "waits": [], "failures": [], **of}


def test_each_wait_is_a_paragraph():
    first, deadline, wait, more = paragraphs(explanation(waits=[WAIT], deadline="noon", more=True))
    assert (first, deadline, more) == ("web is so.", "It times out at noon.", "There are more like these.")
    assert wait.splitlines() == [
        "",
        "[bold]group.0[/bold] (OS::Nova::Server): RETRY since 2026-01-01T00:00:00Z",
        "  The create did not go on: \\[bold]503\\[/bold].",
        "  Next: It is tried again.",
        "  You can: Remove what is in the way.",
    ]


def test_what_the_stack_itself_waits_for_has_its_name():
    wait = WAIT | {"path": "", "resource_type": None, "advice": None}
    lines = paragraphs(explanation(waits=[wait]))[1].splitlines()
    assert lines[1].startswith("[bold]web[/bold]: RETRY")
    assert lines[-1].startswith("  Next:")


def test_a_failure_has_its_reason_and_what_it_stands_for():
    assert paragraphs(explanation(failures=[FAILURE]))[1] == (
        "\n[bold]a.b[/bold] (A::B, id-1): CREATE_FAILED\n  no \\[red]room\\[/red]"
    )
