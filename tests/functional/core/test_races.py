# SPDX-License-Identifier: Apache-2.0
"""Who comes first wins, who comes second does no harm: every race, on every database."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import sqlalchemy as sa

from heatconv import errors
from heatconv.db.convergence import (
    actions,
    checks,
    claims,
    recovery,
    resources,
    row_locks,
    sync_points,
    traversal_ends,
)
from heatconv.db.convergence.claimants import Ask, Claimants
from heatconv.db.plumbing.session import writing
from heatconv.db.plumbing.together import Together
from heatconv.db.tables import raw_template, resource, stack, sync_point, sync_point_input
from heatconv.engine.freezer import Freezer
from heatconv.engine.reads import Reads
from heatconv.model.endings import Failed, Gone, Made, Passed, Visited
from heatconv.model.ids import new_id
from heatconv.model.nodes import NodeData
from heatconv.model.outcomes import Busy, Claimed, Fenced, Half, Idle, Propagated, Superseded
from heatconv.model.records import Attempt
from heatconv.model.states import Action, Status, SyncState
from heatconv.model.steps import Replace, Skip
from heatconv.testing.failures import FailureRule, Outcome
from heatconv.testing.templates import Template, attr, thing
from heatconv.worker.decide import decide
from tests.functional.core.world import CONTEXT, HOUR, at_once, interrupt

CHAIN = Template(A=thing("a"), C=thing("c", uses=["A"]), D=thing(attr("C"), uses=["C"]))
SERVERS = pytest.mark.parametrize("database_kind", ["postgresql", "mariadb"])


def changed(value, flavor="small"):
    return CHAIN.but(C=thing(value, flavor=flavor, uses=["A"]))


@pytest.fixture
def web(world):
    """Return a world whose stack is as CHAIN wants it."""
    world.create(CHAIN)
    world.run()
    return world


def claim(world, label, worker=None, decided=decide):
    """Let a worker claim a node of the current traversal."""
    worker = worker or world.worker
    claimant = Claimants(worker.engine_id, dead_after=HOUR, decide=decided).claimant()
    ask = Ask(world.stack.current_traversal, world.node(label), claimant, world.stack_id)
    (claim,) = claims.claim(worker.database, [ask])
    return claim


def claimed(world, label, worker=None, decided=decide):
    """Let a worker claim a node, which it must get; return the job and the row."""
    outcome = claim(world, label, worker, decided)
    assert isinstance(outcome, Claimed), outcome
    row = outcome.job.resource
    assert row is not None
    return outcome.job, row


def attempt(action, row):
    """Return an attempt at what is desired of a row."""
    return Attempt(action=action, definition=row.desired, sha1=row.desired_sha1, requires={})


# -- engines -------------------------------------------------------------------------------


def meeting(engines):
    """Return a freezer that goes on when so many engines have read the stack's row."""
    barrier = threading.Barrier(engines)

    class Meeting(Freezer):
        met = False

        def freeze(self, *arguments):
            wanted = super().freeze(*arguments)
            if not self.met:
                self.met = True
                barrier.wait()
            return wanted

    return Meeting


def test_of_updates_at_once_each_is_accepted_and_the_last_one_is_done_on_top(web):
    first, key = web.stack.raw_template_id, web.stack.atomic_key
    wishes = [changed(str(number)) for number in range(3)]
    meet = meeting(len(wishes))

    at_once(*(partial(web.update, wish, engine=web.new_engine(meet)) for wish in wishes))

    assert web.stack.atomic_key == key + len(wishes)
    assert {point.traversal_id for point in web.select(sync_point)} == {web.stack.current_traversal}
    assert web.points().keys() == {"C+", "D+", "stack+", "C-", "D-", "stack-"}
    assert {first, web.stack.raw_template_id} < web.templates()
    assert len(web.templates()) == 1 + len(wishes)

    posted = {row.id: row.template for row in web.select(raw_template)}
    (last,) = [wish for wish in wishes if wish.hot() == posted[web.stack.raw_template_id]]
    web.run(threads=4)
    assert web.state == "UPDATE_COMPLETE"
    assert web.differences(last) == []
    assert web.events().count("web UPDATE_IN_PROGRESS") == len(wishes)
    assert web.events().count("web UPDATE_COMPLETE") == 1


def test_of_two_creates_of_a_name_one_wins_and_the_other_leaves_nothing(world):
    def create(engine):
        try:
            return engine.create_stack(CONTEXT, "web", {"template": CHAIN.hot()}, {})
        except errors.StackExists:
            return None

    made = at_once(*(partial(create, world.new_engine()) for _ in range(2)))

    (world.stack_id,) = [stack_id for stack_id in made if stack_id is not None]
    assert [row.id for row in world.select(stack)] == [world.stack_id]
    assert {row.stack_id for row in world.select(raw_template)} == {world.stack_id}
    assert world.rows().keys() == set(CHAIN)
    world.run()
    assert world.differences(CHAIN) == []


def test_a_rollback_takes_the_template_that_completed_while_it_was_being_prepared(web):
    web.update(changed("new"))
    web.check("C+")
    assert web.check("D+") == ["stack+"]
    completed = web.stack.raw_template_id

    class Overtaken(Freezer):
        def stored(self, template_id):
            web.run()
            return super().stored(template_id)

    web.new_engine(Overtaken).rollback_stack(CONTEXT, web.stack_id)

    web.run()
    assert web.state == "ROLLBACK_COMPLETE"
    assert web.stack.raw_template_id == completed
    assert web.differences(changed("new")) == []


def test_a_read_shows_the_template_that_replaced_the_one_it_was_about_to_show(web, monkeypatch):
    wishes = [changed("newer")]
    read = web.database.read

    def overtaken(operation):
        found = read(operation)
        if wishes:
            web.update(wishes.pop())
            web.run()
        return found

    monkeypatch.setattr(web.database, "read", overtaken)

    shown = Reads(web.database, dead_after=HOUR).get_template(CONTEXT, web.stack_id)

    assert shown == changed("newer").hot()


# -- claims --------------------------------------------------------------------------------


def test_a_call_for_a_stack_that_comes_twice_at_once_makes_one(world):
    engines = [world.new_engine(max_stacks=1) for _ in range(4)]
    options = {"stack_id": new_id()}

    made = at_once(
        *(partial(each.create_stack, CONTEXT, "web", {"template": CHAIN.hot()}, options) for each in engines)
    )

    assert set(made) == {options["stack_id"]}
    assert [each.id for each in world.select(stack)] == [options["stack_id"]]
    with pytest.raises(errors.RequestLimitExceeded):
        engines[0].create_stack(CONTEXT, "other", {"template": CHAIN.hot()}, {"stack_id": new_id()})
    with pytest.raises(errors.StackExists):
        world.engine.create_stack(CONTEXT, "web", {"template": CHAIN.hot()}, {"stack_id": new_id()})


def test_a_call_for_a_nested_stack_that_comes_twice_at_once_makes_one(world):
    world.create(Template(A=thing("a", wait=3)))
    world.check("A+")
    row = world.row("A")
    options = {"owner": {"id": row.id, "engine_id": row.engine_id, "atomic_key": row.atomic_key}}
    source = {"template": Template(B=thing("b")).hot()}
    engines = [world.new_engine() for _ in range(4)]

    calls = [
        partial(engine.create_stack, CONTEXT, "web-A", dict(source), dict(options)) for engine in engines
    ]
    ids = set(at_once(*calls))

    (nested,) = [each for each in world.select(stack) if each.owner_resource_id == row.id]
    assert ids == {nested.id}


def test_of_workers_that_claim_a_node_at_once_one_gets_the_lock(world, database_kind):
    world.create(CHAIN)
    workers = [world.new_worker() for _ in range(4)]
    barrier = threading.Barrier(len(workers))

    def decide_together(job):
        if database_kind != "sqlite":  # whose writers exclude each other from the start
            barrier.wait()
        return decide(job)

    outcomes = at_once(*(partial(claim, world, "A+", worker, decide_together) for worker in workers))

    (winner,) = [
        worker for worker, outcome in zip(workers, outcomes, strict=True) if isinstance(outcome, Claimed)
    ]
    assert world.row("A").engine_id == winner.engine_id
    assert world.row("A").atomic_key == 1
    assert world.rows()["A"] == "CREATE_IN_PROGRESS v0"
    assert world.events().count("A CREATE_IN_PROGRESS") == 1
    assert sum(isinstance(outcome, Idle | Busy) for outcome in outcomes) == len(workers) - 1


def test_what_was_read_before_a_newer_traversal_cannot_be_locked_after_it(web):
    web.update(changed("1"))
    row = resources.find(web.database, web.row("C").id)
    assert row is not None
    web.update(changed("2"))
    before = web.row("C")

    late = row_locks.Take(row=row, columns={}, engine_id="late")

    def take(connection):
        writes = Together(connection)
        row_locks.take_all(writes, [late])
        return writes.send()

    assert not web.database.write(take)
    assert web.row("C") == before


@SERVERS
def test_a_claim_that_a_newer_traversal_overtakes_comes_too_late(web):
    web.update(changed("1"))

    def overtaken(job):
        web.update(changed("2"))
        return decide(job)

    late = claim(web, "C+", decided=overtaken)

    assert isinstance(late, Idle)
    assert web.row("C").engine_id is None
    assert web.rows()["C"] == "CREATE_COMPLETE v0"
    web.run()
    assert web.differences(changed("2")) == []


def test_a_message_of_an_older_traversal_changes_nothing(web):
    web.update(changed("1"))
    old, node = web.stack.current_traversal, web.node("C+")
    web.update(changed("2"))
    before = web.everything()

    web.worker.checker.check(web.stack_id, old, node)
    web.worker.checker.check(web.stack_id, old, web.node("stack+"))

    assert web.everything() == before


# -- counting ------------------------------------------------------------------------------


FAN_IN = Template(
    **{f"S{number}": thing("s") for number in range(20)},
    J=thing("j", uses=[f"S{number}" for number in range(20)]),
)


#: How many transactions of this database wait for a lock.
WAITING = {
    "postgresql": "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'",
    "mariadb": "SELECT count(*) FROM information_schema.innodb_trx JOIN information_schema.processlist"
    " ON id = trx_mysql_thread_id WHERE db = database() AND trx_state = 'LOCK WAIT'",
}


def at_once_after(world, locking, kind, *functions):
    """Call functions, a thread each, that all wait for one row; return what they return once it is free."""
    with ThreadPoolExecutor(len(functions)) as pool:
        with world.database.engine.begin() as connection:
            connection.execute(locking.with_for_update()).one()
            called = [pool.submit(function) for function in functions]
            deadline = time.monotonic() + 60
            while connection.scalar(sa.text(WAITING[kind])) < len(functions):
                assert time.monotonic() < deadline
                assert not any(each.done() for each in called)
                time.sleep(0.2)  # MariaDB looks anew what waits once nobody has asked for 0.1 s
        return [each.result() for each in called]


@SERVERS
def test_a_node_that_two_pass_by_at_once_is_counted_once(world, database_kind):
    """Both have read that it is READY before either has written that it is DONE."""
    world.create(CHAIN)
    job, _ = claimed(world, "A+")
    key = sync_points.key_of(job.traversal_id, world.node("C+"))
    passing = [partial(checks.end, world.new_worker().database, Passed(job=job)) for _ in range(2)]

    outcomes = at_once_after(world, sa.select(sync_point.c.state).where(key), database_kind, *passing)

    assert {type(outcome) for outcome in outcomes} == {Propagated, Superseded}
    assert (world.points()["A+"], world.points()["C+"]) == ("DONE 0/0", "READY 1/1")


@SERVERS
@pytest.mark.parametrize("half", ["stack+", "stack-"])
def test_half_of_a_traversal_that_two_end_at_once_is_ended_once(web, database_kind, half):
    """Both have read that it is READY before either has written what comes next."""
    web.update(changed("new").without("D"))
    for label in ("C+", "stack+", "D-", "C-")[: 1 if half == "stack+" else 4]:
        web.check(label)
    before, direction = web.stack, web.node(half).direction
    ending = [
        partial(
            traversal_ends.finish_half, worker.database, web.stack_id, before.current_traversal, direction
        )
        for worker in (web.new_worker(), web.new_worker())
    ]

    ended = at_once_after(web, sa.select(stack).where(stack.c.id == web.stack_id), database_kind, *ending)

    ready = [web.label(node) for each in ended for node in each.ready]
    assert ready == (["D-"] if half == "stack+" else [])
    assert web.stack.atomic_key == before.atomic_key + 1
    assert web.events().count("web UPDATE_COMPLETE") == (half == "stack-")


def test_halves_of_several_stacks_that_are_done_together_are_finished_in_one_transaction(web):
    """One goes on with its clean-up, one is complete; what came twice and what was overtaken are left out."""
    web.update(changed("new").without("D"))
    other = web.engine.create_stack(CONTEXT, "other", {"template": CHAIN.hot()}, {})
    done = []
    while rung := web.bell.take():
        for stack_id, traversal_id, node in rung:
            if node.resource_id == stack_id:
                done.append(traversal_ends._Due(stack_id, traversal_id, node.direction))
            else:
                web.worker.checker.check(stack_id, traversal_id, node)
    assert len(done) == 2
    finish = writing(traversal_ends._finish_all)

    halves = finish(web.database, [*done, done[0], done[1]._replace(traversal_id=new_id())])

    by_stack = {due.stack_id: half for due, half in zip(done, halves, strict=False)}
    assert by_stack == {web.stack_id: Half(ready=(web.node("D-"),)), other: Half()}
    assert halves[2:] == [None, None]
    assert web.stack.phase == "GC"
    assert [(row.status, row.phase) for row in web.select(stack, stack.c.id == other)] == [
        ("COMPLETE", "DONE")
    ]
    assert web.select(sync_point, sync_point.c.stack_id == other) == []
    assert web.events().count("other CREATE_COMPLETE") == 1


@pytest.mark.parametrize("half", ["stack+", "stack-"])
def test_a_message_that_comes_before_a_half_is_done_changes_nothing(web, half):
    web.update(changed("new").without("D"))
    before = web.everything()

    assert web.check(half) == []

    assert web.everything() == before


def test_of_twenty_that_are_done_at_once_each_is_counted_once(world):
    world.create(FAN_IN)
    world.cloud.gate.hold_after(0)
    leaves = world.bell.take()

    with ThreadPoolExecutor(len(leaves)) as pool:
        checked = [pool.submit(world.worker.checker.check, *leaf) for leaf in leaves]
        assert world.cloud.gate.wait_for(len(leaves), 60)
        world.cloud.gate.release()
        for future in checked:
            future.result()

    assert world.points()["J+"] == "READY 20/20"
    assert world.point("J+").satisfied == 20
    assert world.rung() == ["J+"]
    assert world.inputs()["J+"].keys() == {f"S{number}+" for number in range(20)}
    world.run()
    assert world.differences(FAN_IN) == []


def test_a_message_that_comes_twice_counts_once(world):
    world.create(FAN_IN)
    world.check("S0+")
    before = world.everything()

    assert world.check("S0+") == []

    assert world.everything() == before
    assert world.points()["J+"] == "WAITING 1/20"


def test_a_stack_whose_messages_all_come_twice_and_at_once_does_everything_once(world):
    world.create(CHAIN)
    world.run(threads=4, copies=2)
    assert world.differences(CHAIN) == []

    world.update(changed("new", flavor="large").without("D"))
    world.run(threads=4, copies=2)

    assert world.state == "UPDATE_COMPLETE"
    assert world.differences(changed("new", flavor="large").without("D")) == []
    assert world.calls() == [
        *("create A", "create C", "create D"),
        *("create C", "delete D", "delete C"),
    ]
    assert world.events().count("web UPDATE_COMPLETE") == 1


def test_a_wide_fan_in_is_told_everything_through_its_joins(world):
    names = [f"S{number}" for number in range(100)]
    wide = Template(**{name: thing("s") for name in names}, J=thing("j", uses=names))
    world.create(wide)

    assert sum(point.join_for == world.row("J").id for point in world.select(sync_point)) == 10
    assert world.points()["J+"] == "WAITING 0/10"

    for ring in world.bell.take():
        world.worker.checker.check(*ring)
    assert world.points()["J+"] == "READY 10/10"
    assert world.rung() == ["J+"]
    assert {point.state for point in world.select(sync_point) if point.join_for} == {SyncState.DONE}
    assert world.inputs() == {"J+": {f"{name}+": world.row(name).physical_id for name in names}}

    world.run()
    assert world.state == "CREATE_COMPLETE"
    assert world.differences(wide) == []
    assert len(world.row("J").requires) == 100
    assert world.select(sync_point_input) == []


def test_wide_fan_ins_side_by_side_are_counted_into_without_a_deadlock(world):
    names = [f"S{number}" for number in range(64)]
    joined = {f"J{number}": thing("j", uses=names) for number in range(4)}
    world.create(Template(**{name: thing("s") for name in names}, **joined))
    deadlocks = world.worker.watch_for_errors()

    world.run(threads=8)

    assert world.state == "CREATE_COMPLETE"
    assert deadlocks == []


# -- fences --------------------------------------------------------------------------------


def test_a_worker_whose_lock_was_broken_changes_no_row(web):
    web.update(changed("new"))
    job, row = claimed(web, "C+")
    update = attempt(Action.UPDATE, row)
    output = NodeData(name="C", resource_id=row.id)
    web.worker.die()
    other = web.new_worker()
    claimed(web, "C+", other)
    before = web.everything()
    late = web.worker.database

    assert not actions.try_begin(late, row, update)
    assert not actions.try_write(late, row, {"physical_id": "ghost"})
    assert not actions.try_release(late, row)
    assert actions.try_replace(late, job, new_id(), Replace(update)) is None
    made = Made(job=job, attempt=update, output=output, physical_id="ghost", action=Action.UPDATE)
    assert checks.end(late, made) == Fenced()
    assert checks.end(late, Visited(job=job, action=Action.CHECK, reason="late")) == Fenced()
    assert not actions.try_pause(late, row, "pre-update", update)
    assert not actions.try_set_metadata(late, row, {"ghost": True})
    assert checks.end(late, Gone(job=job, action=Action.DELETE)) == Fenced()
    failed = Failed(job=job, action=Action.UPDATE, reason="late", definition=None)
    assert checks.end(late, failed) == Fenced()

    assert web.everything() == before
    assert web.row("C").engine_id == other.engine_id


def test_what_is_refused_leaves_a_resource_as_it_was_unless_an_action_was_given_up_for_it(web):
    web.update(changed("new"))
    job, row = claimed(web, "C+")
    refused = Failed(job=job, action=Action.UPDATE, reason="unforeseen", definition=None, refused="no")
    assert not isinstance(checks.end(web.database, refused), Fenced)
    assert (web.row("C").status, web.row("C").applied_sha1) == (Status.COMPLETE, row.applied_sha1)

    web.update(CHAIN.but(C=thing("newer", wait=60, uses=["A"])))
    web.check("C+")
    assert web.row("C").status == Status.IN_PROGRESS
    web.worker.die()
    job, _ = claimed(web, "C+", web.new_worker())
    refused = Failed(job=job, action=Action.UPDATE, reason="unforeseen", definition=None, refused="no")
    assert not isinstance(checks.end(web.database, refused), Fenced)
    now = web.row("C")
    assert (now.status, now.progress, now.status_reason) == (Status.FAILED, None, "unforeseen")


def test_a_node_is_passed_by_once(web):
    web.update(changed("new"))
    job, _ = claimed(web, "C+", decided=lambda _job: Skip())

    assert isinstance(checks.end(web.database, Passed(job=job)), Propagated)
    before = web.everything()
    assert checks.end(web.database, Passed(job=job)) == Superseded()
    assert web.everything() == before


def test_the_result_of_a_worker_that_was_taken_over_is_void(world):
    world.create(Template(A=thing("a", wait=3)))
    world.check("A+")
    world.worker.die()
    other = world.new_worker()

    world.check("A+", other)
    assert world.row("A").engine_id == other.engine_id
    while world.rows()["A"] != "CREATE_COMPLETE v0":
        world.come_back(other)
    before = world.everything()

    assert world.come_back(world.worker) == []
    assert world.everything() == before
    assert world.calls() == ["create A"]


def test_what_is_made_after_its_stack_has_gone_is_removed(world):
    world.create(Template(A=thing("a")))
    world.cloud.gate.hold_after(0)
    late, other = world.worker, world.new_worker()
    with ThreadPoolExecutor(1) as pool:
        checked = pool.submit(world.check, "A+", late)
        assert world.cloud.gate.wait_for(1, 60)
        world.delete()
        late.die()
        break_locks(world)
        world.check("stack+", other)
        world.check("A-", other)
        world.cloud.gate.release()
        assert "A" not in world.rows()

        world.cloud.gate.release()
        checked.result()
    world.worker = other
    world.run()

    assert world.calls() == ["create A", "delete A"]
    assert world.select(stack)[0].status == "COMPLETE"


def test_what_was_made_is_deleted_even_if_its_maker_died_before_it_was_told_the_id(world):
    world.create(Template(A=thing("a")))
    world.cloud.fail(FailureRule(op="create", owner="*/A", outcome=Outcome.CUT))
    world.cloud.fail(FailureRule(op="find", status=503, times=None))
    world.check("A+")
    assert world.row("A").physical_id is None
    world.worker.die()
    world.worker = world.new_worker()
    world.delete()
    break_locks(world)
    world.cloud.failures.clear()

    world.check("stack+")
    world.check("A-")

    assert world.calls() == ["create A", "delete A"]
    world.run()
    assert world.state == "DELETE_COMPLETE"
    assert world.calls() == ["create A", "delete A"]


def break_locks(world):
    """Take the locks of the dead away, as an engine's recovery does."""
    locked = recovery.dead_locks(world.database, dead_after=HOUR, limit=10)
    assert recovery.break_locks(world.database, locked, dead_after=HOUR) == locked


def test_a_lock_is_broken_by_one_and_only_if_its_holder_is_dead(world):
    world.create(Template(A=thing("a", wait=3)))
    world.check("A+")
    assert recovery.dead_locks(world.database, dead_after=HOUR, limit=10) == []
    world.worker.die()
    locked = recovery.dead_locks(world.database, dead_after=HOUR, limit=10)

    broken = at_once(*[partial(recovery.break_locks, world.database, locked, dead_after=HOUR)] * 4)

    assert sorted(len(each) for each in broken) == [0, 0, 0, 1]
    assert world.row("A").engine_id is None
    assert not recovery.break_locks(world.database, locked, dead_after=HOUR)


def test_the_locks_of_one_that_died_over_many_are_broken_by_either_of_two_engines_once(world):
    world.create(Template(**{f"R{number}": thing(f"r{number}", wait=3) for number in range(12)}))
    for number in range(12):
        world.check(f"R{number}+")
    world.worker.die()
    locked = recovery.dead_locks(world.database, dead_after=HOUR, limit=20)
    assert len(locked) == 12

    broken = at_once(*[partial(recovery.break_locks, world.database, locked, dead_after=HOUR)] * 2)

    assert sorted(row.id for rows in broken for row in rows) == [row.id for row in locked]
    assert all(world.row(f"R{number}").engine_id is None for number in range(12))


# -- replacements ----------------------------------------------------------------------------


def test_a_replacement_that_a_newer_traversal_overtakes_leaves_no_second_row(web):
    web.update(changed("c", flavor="large"))
    job, row = claimed(web, "C+")
    replace = Replace(attempt(Action.CREATE, row))
    web.update(changed("new"))
    before = web.everything()

    assert actions.try_replace(web.worker.database, job, new_id(), replace) is None

    assert web.everything() == before
    assert web.rows().keys() == {"A", "C", "D"}


@pytest.mark.parametrize("after", range(1, 6))
def test_wherever_a_newer_wish_overtakes_a_replacement_one_row_and_one_object_remain(web, after):
    web.update(changed("c", flavor="large"))
    newer = changed("new", flavor="huge")
    interrupt(web.worker.database, after, partial(web.update, newer))

    web.run()

    assert web.state == "UPDATE_COMPLETE"
    assert web.differences(newer) == []
    assert [row.name for row in web.select(resource)].count("C") == 1


def test_replacements_and_newer_wishes_at_once_leave_one_row_and_one_object(web):
    newer = web.new_engine()
    for number in range(5):
        web.update(changed("c", flavor=f"{number}"))
        wish = changed("c", flavor=f"newer than {number}")
        at_once(web.run, partial(web.update, wish, engine=newer))
        web.run()

        assert web.differences(wish) == []
        assert [row.name for row in web.select(resource)].count("C") == 1


# -- a newer traversal meets a lock ------------------------------------------------------------


def test_a_newer_update_waits_for_the_older_action_and_is_rung_for_when_that_ends(web):
    slow = CHAIN.but(C=thing("1", uses=["A"], wait=3))
    web.update(slow)
    web.check("C+")
    assert web.rows()["C"] == "UPDATE_IN_PROGRESS v0"
    other = web.new_worker()

    web.update(changed("2"))
    wanted = web.row("C").desired_sha1
    before = web.everything()
    assert web.check("C+", other) == []
    assert web.everything() == before
    assert web.row("C").engine_id == web.worker.engine_id

    assert web.come_back() == ["C+"]  # it is given back, for whoever takes it up to know of the newer wish
    assert web.check("C+", other) == ["C+"]  # and there it ends
    assert web.rows()["C"] == "UPDATE_COMPLETE v1"
    assert web.row("C").engine_id is None
    assert web.row("C").applied_sha1 != wanted
    assert web.row("C").desired_sha1 == wanted
    assert web.points()["C+"] == "READY 0/0"

    assert web.check("C+", other) == ["D+"]
    assert web.rows()["C"] == "UPDATE_COMPLETE v2"
    assert web.row("C").applied_sha1 == wanted
    web.run()
    assert web.differences(changed("2")) == []


def test_an_older_action_that_fails_does_not_fail_the_newer_traversal(web):
    web.update(CHAIN.but(C=thing("1", uses=["A"], wait=3)))
    web.check("C+")
    web.update(changed("2"))
    other = web.new_worker()
    assert web.check("C+", other) == []
    assert web.come_back() == ["C+"]

    web.cloud.fail(FailureRule(op="show", owner="*/C", status=400))
    assert web.check("C+", other) == ["C+"]

    assert web.rows()["C"] == "UPDATE_FAILED v0"
    assert web.state == "UPDATE_IN_PROGRESS"
    web.run()
    assert web.state == "UPDATE_COMPLETE"
    assert web.differences(changed("2")) == []


def test_a_delete_asks_the_holder_of_a_lock_to_give_way(world):
    world.create(Template(A=thing("a", wait=100)))
    world.check("A+")
    other = world.new_worker()

    world.delete()
    world.check("stack+", other)
    assert world.check("A-", other) == []
    assert world.bell.preempted == [(world.worker.engine_id, world.row("A").id, None)]
    assert world.rows() == {"A": "CREATE_IN_PROGRESS v0"}

    world.bell.take()
    world.worker.held.give_up(world.row("A").id)
    assert world.rung() == ["A-"]
    assert world.row("A").engine_id is None
    world.run()
    assert world.state == "DELETE_COMPLETE"
    assert world.cloud.owned() == []


def test_who_is_asked_to_give_way_while_it_acts_does_so_when_it_would_wait(world, monkeypatch):
    plugin = world.plugin_of(thing("a"))
    world.create(Template(A=thing("a", wait=100)))
    row_id = world.row("A").id
    look = plugin.check_create_complete

    def asked_meanwhile(self, token):
        world.worker.held.give_up(row_id)
        return look(self, token)

    monkeypatch.setattr(plugin, "check_create_complete", asked_meanwhile)
    assert world.check("A+") == ["A+"]
    assert world.row("A").engine_id is None


def test_who_deletes_already_is_not_asked_to_give_way(world):
    world.create(Template(A=thing("a")))
    world.run()
    world.delete()
    world.check("stack+")
    world.cloud.latency["delete"] = 3
    world.check("A-")
    assert world.rows() == {"A": "DELETE_IN_PROGRESS v0"}

    assert world.check("A-", world.new_worker()) == []
    assert world.bell.preempted == []
    world.run()
    assert world.state == "DELETE_COMPLETE"


def test_what_a_worker_hands_back_goes_on_where_it_was(world):
    world.create(Template(A=thing("a", wait=3)))
    world.check("A+")

    world.bell.take()
    world.worker.held.hand_back()
    assert world.rung() == ["A+"]
    assert world.row("A").engine_id is None
    assert world.rows() == {"A": "CREATE_IN_PROGRESS v0"}

    other = world.new_worker()
    world.check("A+", other)
    assert world.row("A").engine_id == other.engine_id
    world.run()
    assert world.state == "CREATE_COMPLETE"
    assert world.calls() == ["create A"]


@pytest.fixture
def aside(world, monkeypatch):
    """Let things ask an engine for what they do; return the calls that wait for a thread that may."""
    waiting: list[Callable[[], None]] = []
    monkeypatch.setattr(world.plugin_of(thing("a")), "asks_engine", True)
    monkeypatch.setattr(world.worker, "call_engine", waiting.append)
    return waiting


def test_what_asks_an_engine_waits_for_a_thread_that_may(world, aside):
    world.create(Template(A=thing("a")))
    world.check("A+")
    assert world.row("A").engine_id == world.worker.engine_id
    assert world.calls() == []

    (call,) = aside
    call()
    assert world.calls() == ["create A"]
    world.run()
    assert world.state == "CREATE_COMPLETE"


def test_what_waits_aside_is_handed_back_before_it_begins(world, aside):
    world.create(Template(A=thing("a")))
    world.check("A+")

    world.bell.take()
    world.worker.held.hand_back()
    assert world.rung() == ["A+"]
    assert world.row("A").engine_id is None
    (call,) = aside
    call()
    assert world.calls() == []


def test_what_waits_aside_gives_way(world, aside):
    world.create(Template(A=thing("a")))
    world.check("A+")
    traversal_id = world.stack.current_traversal

    world.worker.held.give_up(world.row("A").id, traversal_id)
    assert world.row("A").engine_id is not None
    world.worker.held.give_up(world.row("A").id, "a newer one")
    assert world.row("A").engine_id is None
    (call,) = aside
    call()
    assert world.calls() == []
