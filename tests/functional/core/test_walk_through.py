# SPDX-License-Identifier: Apache-2.0
"""What the tables say after each step of a stack's life, on every database.

C needs A and B; D and E need C.  ``world`` tells how nodes are spelt.
"""

from __future__ import annotations

import pytest

from heatconv.model.states import Phase
from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import Template, attr, thing

FIRST = Template(
    A=thing("a"),
    B=thing("b"),
    C=thing("c", uses=["A", "B"]),
    D=thing("d", uses=["C"]),
    E=thing(attr("C"), uses=["C"]),
)
SECOND = FIRST.without("D", "E").but(C=thing("new", uses=["A", "B"]), F=thing(attr("C"), uses=["C"]))
LARGE = FIRST.but(C=thing("c", uses=["A", "B"], flavor="large"))


@pytest.fixture
def web(world):
    """Return a world whose stack is as FIRST wants it."""
    world.create(FIRST)
    world.run()
    assert world.state == "CREATE_COMPLETE"
    return world


def physical_ids(world):
    return {found["owner"].rpartition("/")[2]: found["id"] for found in world.cloud.owned()}


def unlocked(world, label):
    row = world.row(label)
    return row.engine_id is None and row.progress is None


def test_who_goes_on_with_what_it_made_ready_needs_to_be_rung_for_leaves_only(world):
    world.worker.spare_capacity = 1
    world.create(FIRST)
    assert {node.resource_id for _, _, node in world.bell.take()} == {world.row("A").id, world.row("B").id}

    world.check("A+")
    assert world.rows()["C"] == "INIT_COMPLETE v0"
    world.check("B+")

    # One of D and E was claimed with the end of C; the other was left to whoever hears the bell.
    (rung,) = [node.resource_id for _, _, node in world.bell.take()]
    (last,) = (name for name in "DE" if world.row(name).id == rung)
    assert {name: state for name, state in world.rows().items() if state != "CREATE_COMPLETE v0"} == {
        last: "INIT_COMPLETE v0"
    }
    world.check(f"{last}+")
    assert world.state == "CREATE_COMPLETE"
    assert not world.bell.take()
    assert len(world.calls()) == len(FIRST)


def test_who_has_room_for_more_takes_up_all_that_it_made_ready(world):
    world.worker.spare_capacity = 3
    world.create(FIRST)
    world.check("A+")
    world.bell.take()
    world.check("B+")

    # D and E were claimed with the end of C: one was gone on with, the other waits for a thread.
    assert not world.bell.take()
    (waiting,) = (name for name in "DE" if world.row(name).status == "IN_PROGRESS")
    assert world.row(waiting).engine_id == world.worker.engine_id
    assert f"create {waiting}" not in world.calls()
    assert world.worker.come_back()
    assert world.state == "CREATE_COMPLETE"
    assert not world.bell.take()
    assert len(world.calls()) == len(FIRST)


def test_what_was_taken_up_and_waits_for_a_thread_is_handed_back(world):
    world.worker.spare_capacity = 3
    world.create(FIRST)
    world.check("A+")
    world.check("B+")
    world.bell.take()
    (waiting,) = (name for name in "DE" if world.row(name).status == "IN_PROGRESS")

    world.worker.held.hand_back()
    assert world.row(waiting).engine_id is None
    assert world.rung() == [f"{waiting}+"]
    assert world.worker.come_back()  # too late: it was given back
    assert f"create {waiting}" not in world.calls()
    world.check(f"{waiting}+", world.new_worker())
    world.run()
    assert world.state == "CREATE_COMPLETE"
    assert world.calls().count(f"create {waiting}") == 1
    assert all(unlocked(world, name) for name in "ABCDE")


# -- create ------------------------------------------------------------------------------


def test_a_create_writes_the_whole_graph_before_anything_is_done(world):
    world.create(FIRST)

    assert world.state == "CREATE_IN_PROGRESS"
    assert world.stack.phase == Phase.UPDATE
    assert world.stack.prev_raw_template_id is None
    assert world.templates() == {world.stack.raw_template_id}
    assert world.rows() == dict.fromkeys("ABCDE", "INIT_COMPLETE v0")
    assert world.edges() == {"A+ C+", "B+ C+", "C+ D+", "C+ E+", "D+ stack+", "E+ stack+"}
    assert world.points() == {
        "A+": "READY 0/0",
        "B+": "READY 0/0",
        "C+": "WAITING 0/2",
        "D+": "WAITING 0/1",
        "E+": "WAITING 0/1",
        "stack+": "WAITING 0/2",
    }
    assert world.inputs() == {}
    assert world.rung() == ["A+", "B+"]
    assert world.calls() == []


def test_a_create_goes_one_check_at_a_time(world):
    world.create(FIRST)

    assert world.check("A+") == []
    assert world.rows()["A"] == "CREATE_COMPLETE v0"
    assert unlocked(world, "A")
    assert world.row("A").physical_id == physical_ids(world)["A"]
    assert world.row("A").applied_sha1 == world.row("A").desired_sha1
    assert world.row("A").applied_template_id == world.stack.raw_template_id
    assert world.points()["A+"] == "DONE 0/0"
    assert world.points()["C+"] == "WAITING 1/2"
    assert world.point("C+").ready_at is None
    assert world.inputs() == {"C+": {"A+": world.row("A").physical_id}}

    assert world.check("B+") == ["C+"]
    assert world.points()["C+"] == "READY 2/2"
    assert world.point("C+").ready_at is not None
    assert world.inputs() == {"C+": {"A+": world.row("A").physical_id, "B+": world.row("B").physical_id}}
    assert world.rows()["C"] == "INIT_COMPLETE v0"

    assert world.check("C+") == ["D+", "E+"]
    assert world.rows()["C"] == "CREATE_COMPLETE v0"
    assert unlocked(world, "C")
    assert world.row("C").requires == {world.row("A").id: 1, world.row("B").id: 1}
    assert world.row("C").output_version == 1
    assert {label: world.points()[label] for label in ("C+", "D+", "E+", "stack+")} == {
        "C+": "DONE 2/2",
        "D+": "READY 1/1",
        "E+": "READY 1/1",
        "stack+": "WAITING 0/2",
    }
    assert world.inputs()["D+"] == world.inputs()["E+"] == {"C+": world.row("C").physical_id}

    assert world.check("D+") == []
    assert world.points()["stack+"] == "WAITING 1/2"
    assert world.check("E+") == ["stack+"]
    assert world.points()["stack+"] == "READY 2/2"
    assert "stack+" not in world.inputs()
    assert world.state == "CREATE_IN_PROGRESS"
    assert world.stack.phase == Phase.UPDATE

    assert world.check("stack+") == []
    assert world.differences(FIRST) == []
    assert sorted(world.calls()) == [f"create {name}" for name in "ABCDE"]


def test_a_create_that_is_complete_leaves_nothing_but_its_rows_and_its_template(web):
    assert web.rows() == dict.fromkeys("ABCDE", "CREATE_COMPLETE v0")
    assert (web.points(), web.edges(), web.inputs()) == ({}, set(), {})
    assert web.stack.phase == Phase.DONE
    assert web.stack.deadline is None
    assert web.stack.prev_raw_template_id == web.stack.raw_template_id
    assert web.templates() == {web.stack.raw_template_id}
    assert web.events()[0] == "web CREATE_IN_PROGRESS"
    assert web.events()[-1] == "web CREATE_COMPLETE"
    assert {event for event in web.events() if not event.startswith("web")} == {
        f"{name} CREATE_{status}" for name in "ABCDE" for status in ("IN_PROGRESS", "COMPLETE")
    }


def test_while_an_action_goes_on_its_row_is_locked_and_knows_all_that_another_worker_needs(world):
    world.create(Template(A=thing("a", wait=2)))

    assert world.check("A+") == []
    row = world.row("A")
    assert world.rows() == {"A": "CREATE_IN_PROGRESS v0"}
    assert row.engine_id == world.worker.engine_id
    assert row.physical_id == physical_ids(world)["A"]
    assert row.progress["started"]
    assert row.progress["sha1"] == row.desired_sha1
    assert world.points() == {"A+": "READY 0/0", "stack+": "WAITING 0/1"}

    assert world.come_back() == ["stack+"]
    assert world.rows() == {"A": "CREATE_COMPLETE v0"}
    assert unlocked(world, "A")
    assert world.points() == {"A+": "DONE 0/0", "stack+": "READY 1/1"}


# -- update ------------------------------------------------------------------------------


def test_an_update_lays_out_what_it_changes_and_nothing_else(web):
    before = {label: web.row(label) for label in "AB"}
    first = web.stack.raw_template_id

    web.update(SECOND)

    assert web.state == "UPDATE_IN_PROGRESS"
    assert web.stack.prev_raw_template_id == first
    assert web.templates() == {first, web.stack.raw_template_id}
    assert web.points() == {
        "C+": "READY 0/0",
        "F+": "WAITING 0/1",
        "stack+": "WAITING 0/1",
        "D-": "WAITING 0/1",
        "E-": "WAITING 0/1",
        "C-": "WAITING 0/2",
        "stack-": "WAITING 0/1",
    }
    assert web.edges() == {
        "C+ F+",
        "F+ stack+",
        "stack+ D-",
        "stack+ E-",
        "D- C-",
        "E- C-",
        "C- stack-",
    }
    assert web.inputs() == {"C+": {f"{label}+": before[label].physical_id for label in "AB"}}
    assert web.rung() == ["C+"]
    assert {label: web.row(label) for label in "AB"} == before
    assert [web.row(label).desired for label in "DE"] == [None, None]
    assert web.rows()["F"] == "INIT_COMPLETE v0"


def test_an_update_goes_one_check_at_a_time_and_leaves_the_rest_alone(web):
    before = {label: web.row(label) for label in "ABC"}
    ids = physical_ids(web)
    first = web.stack.raw_template_id
    done = len(web.cloud.audit())
    web.update(SECOND)

    assert web.check("C+") == ["F+"]
    assert web.rows()["C"] == "UPDATE_COMPLETE v1"
    assert web.row("C").physical_id == before["C"].physical_id
    assert web.row("C").output_version == before["C"].output_version + 1  # E, and now F, refer to its value
    assert unlocked(web, "C")
    assert web.inputs()["F+"] == {"C+": ids["C"]}

    assert web.check("F+") == ["stack+"]
    assert web.rows()["F"] == "CREATE_COMPLETE v0"
    assert web.row("F").requires == {web.row("C").id: web.row("C").output_version}
    assert web.stack.phase == Phase.UPDATE
    assert web.stack.prev_raw_template_id == first
    assert set("DE") <= web.rows().keys()

    assert web.check("stack+") == ["D-", "E-"]
    assert web.stack.phase == Phase.GC
    assert web.stack.prev_raw_template_id == web.stack.raw_template_id

    assert web.check("D-") == []
    assert web.points()["C-"] == "WAITING 1/2"
    assert web.check("E-") == ["C-"]
    assert web.rows().keys() == set("ABCF")

    assert web.check("C-") == ["stack-"]
    assert web.row("C").desired is not None
    assert web.state == "UPDATE_IN_PROGRESS"

    assert web.check("stack-") == []
    assert web.state == "UPDATE_COMPLETE"
    assert web.calls(done) == ["update C", "create F", "delete D", "delete E"]
    assert web.differences(SECOND) == []
    assert {label: web.row(label) for label in "AB"} == {label: before[label] for label in "AB"}
    assert {entry.object_id for entry in web.cloud.audit(done)}.isdisjoint({ids["A"], ids["B"]})
    assert (web.points(), web.edges(), web.inputs()) == ({}, set(), {})
    assert web.templates() == {web.stack.raw_template_id}


def test_an_update_to_the_same_is_complete_at_once_and_writes_no_resource(web):
    rows = web.everything()["resource"]

    web.update(FIRST)

    assert web.state == "UPDATE_COMPLETE"
    assert web.bell.rung == []
    assert web.everything()["resource"] == rows
    assert web.templates() == {web.stack.raw_template_id}
    assert web.stack.prev_raw_template_id == web.stack.raw_template_id


# -- replace -----------------------------------------------------------------------------


def test_a_replacement_takes_over_the_node_of_the_row_that_it_replaces(web):
    web.update(LARGE.but(C=thing("c", uses=["A", "B"], flavor="large", wait=2)))
    old = web.row("C")
    ids = physical_ids(web)

    assert web.check("C+") == []
    new = web.row("C'")
    assert web.rows()["C"] == "CREATE_COMPLETE v0"
    assert web.rows()["C'"] == "CREATE_IN_PROGRESS v1"
    assert (new.replaces, web.row("C").replaced_by) == (old.id, new.id)
    assert (web.row("C").desired, web.row("C").engine_id) == (None, None)
    assert new.desired_sha1 == old.desired_sha1
    assert new.engine_id == web.worker.engine_id
    assert web.points()["C+"] == "READY 0/0"
    assert web.point("C+").acts_on == new.id
    assert "C'+" not in web.points()

    assert web.come_back() == ["D+", "E+"]
    assert web.rows()["C'"] == "CREATE_COMPLETE v1"
    assert web.points()["C+"] == "DONE 0/0"
    assert web.inputs()["D+"] == {"C+": web.row("C'").physical_id}
    assert web.row("C'").physical_id not in ids.values()

    web.check("D+")
    assert web.rows()["D"] == "UPDATE_COMPLETE v1"
    assert web.row("D").requires == {new.id: 1}


def test_what_was_replaced_goes_after_its_dependents_have_let_go_of_it(web):
    done = len(web.cloud.audit())
    web.update(LARGE)

    for label in ("C+", "D+", "E+", "stack+", "D-", "E-"):
        web.check(label)
    assert web.rows()["C"] == "CREATE_COMPLETE v0"
    assert web.points()["C-"] == "READY 2/2"
    assert web.point("C-").acts_on == web.row("C").id

    assert web.check("C-") == ["stack-"]
    assert web.rows() == {
        "A": "CREATE_COMPLETE v0",
        "B": "CREATE_COMPLETE v0",
        "C'": "CREATE_COMPLETE v1",
        "D": "UPDATE_COMPLETE v1",
        "E": "UPDATE_COMPLETE v1",
    }
    web.check("stack-")
    assert web.state == "UPDATE_COMPLETE"
    assert web.calls(done) == ["create C", "update D", "update E", "delete C"]
    assert web.differences(LARGE) == []


# -- roll back ---------------------------------------------------------------------------


@pytest.fixture
def failing(web):
    """Return a world where C was replaced and F has failed, which is why a rollback is due."""
    web.cloud.fail(FailureRule(op="create", owner="*/F", status=400))
    web.update(LARGE.but(F=thing("f", uses=["C"])), rollback=True)
    for label in ("C+", "F+"):
        web.check(label)
    return web


def test_a_failure_ends_its_traversal_and_starts_a_rollback_in_one_breath(failing):
    assert failing.rows()["F"] == "CREATE_FAILED v0"
    assert "told to fail" in failing.row("F").status_reason
    assert unlocked(failing, "F")
    assert failing.state == "ROLLBACK_IN_PROGRESS"
    assert failing.stack.phase == Phase.PREPARE
    assert failing.stack.raw_template_id != failing.stack.prev_raw_template_id
    assert "Resource CREATE failed" in failing.stack.status_reason
    assert (failing.points(), failing.edges(), failing.inputs()) == ({}, set(), {})
    assert failing.bell.rollbacks == [failing.stack_id]
    assert failing.events()[-1] == "F CREATE_FAILED"


def test_a_rollback_returns_to_the_row_that_was_replaced(failing):
    first = failing.stack.prev_raw_template_id
    kept = failing.row("C").physical_id
    done = len(failing.cloud.audit())

    failing.engine.prepare_rollback(failing.stack_id)

    assert failing.stack.raw_template_id == first
    assert {"C+ D+", "C+ E+", "F- C'-", "C'- stack-"} <= failing.edges()
    assert "C'+" not in failing.points()
    assert failing.row("C").desired_sha1 == failing.row("C").applied_sha1
    assert failing.row("C").replaced_by is None
    assert failing.row("C'").desired is None

    failing.run()
    assert failing.state == "ROLLBACK_COMPLETE"
    assert failing.calls(done) == ["delete C"]
    assert failing.rows() == dict.fromkeys("ABCDE", "CREATE_COMPLETE v0")
    assert failing.row("C").physical_id == kept
    assert failing.differences(FIRST) == []
    assert failing.templates() == {first}
    assert failing.stack.prev_raw_template_id == first


def test_a_rollback_is_prepared_once_however_often_it_is_asked_for(failing):
    failing.engine.prepare_rollback(failing.stack_id)
    traversal = failing.stack.current_traversal

    failing.engine.prepare_rollback(failing.stack_id)

    assert failing.stack.current_traversal == traversal


def test_a_failed_create_rolls_back_to_nothing(world):
    world.cloud.fail(FailureRule(op="create", owner="*/D", status=400))
    world.create(FIRST, rollback=True)

    world.run()

    assert world.state == "ROLLBACK_COMPLETE"
    assert world.rows() == {}
    assert world.cloud.owned() == []
    assert world.stack.live_name == "web"


def test_what_was_wanted_in_between_and_never_done_is_not_wanted_any_more(web):
    done = len(web.cloud.audit())
    wanted = web.row("C").desired_sha1
    web.update(SECOND)
    assert web.row("C").desired_sha1 != wanted

    web.update(FIRST)

    assert web.row("C").desired_sha1 == wanted
    assert [web.row(label).desired is None for label in "DEF"] == [False, False, True]
    web.run()
    assert web.state == "UPDATE_COMPLETE"
    assert web.calls(done) == []
    assert web.rows() == dict.fromkeys("ABCDE", "CREATE_COMPLETE v0")


# -- delete ------------------------------------------------------------------------------


def test_a_delete_goes_against_the_order_of_creation_and_frees_the_name(web):
    done = len(web.cloud.audit())
    web.delete()

    assert web.state == "DELETE_IN_PROGRESS"
    assert web.points() == {
        "D-": "READY 0/0",
        "E-": "READY 0/0",
        "C-": "WAITING 0/2",
        "A-": "WAITING 0/1",
        "B-": "WAITING 0/1",
        "stack-": "WAITING 0/2",
    }
    assert web.edges() == {
        *("D- C-", "E- C-"),
        *("C- A-", "C- B-", "A- stack-", "B- stack-"),
    }
    assert sorted(web.rung()) == ["D-", "E-"]
    assert web.stack.phase == Phase.GC

    for label in ("D-", "E-", "C-", "B-"):
        web.check(label)
    assert web.rows() == {"A": "CREATE_COMPLETE v0"}
    assert web.stack.live_name == "web"

    assert web.check("A-") == ["stack-"]
    web.check("stack-")
    assert web.state == "DELETE_COMPLETE"
    assert web.stack.deleted_at is not None
    assert web.stack.live_name is None
    assert (web.rows(), web.points(), web.edges(), web.inputs()) == ({}, {}, set(), {})
    assert web.calls(done) == ["delete D", "delete E", "delete C", "delete B", "delete A"]
    assert web.cloud.owned() == []

    gone = web.stack_id
    web.create(FIRST)
    assert web.stack_id != gone


def test_an_update_during_a_delete_keeps_what_was_not_begun_on_and_makes_anew_what_was(web):
    web.cloud.latency["delete"] = 2
    web.delete()
    for label in ("stack+", "D-"):
        web.check(label)
    assert web.rows()["D"] == "DELETE_IN_PROGRESS v0"

    web.update(FIRST)

    assert web.row("D").desired is None
    assert web.rows()["D'"] == "INIT_COMPLETE v0"
    web.run()
    assert web.state == "UPDATE_COMPLETE"
    assert web.differences(FIRST) == []
    assert web.rows() == {
        "A": "CREATE_COMPLETE v0",
        "B": "CREATE_COMPLETE v0",
        "C": "CREATE_COMPLETE v0",
        "D'": "CREATE_COMPLETE v0",
        "E": "CREATE_COMPLETE v0",
    }
