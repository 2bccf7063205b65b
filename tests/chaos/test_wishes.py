# SPDX-License-Identifier: Apache-2.0
"""What signals wish, when the engines that took them die before they have told the nested stack."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.tables import event, stack, wish
from heatconv.model.states import Status
from heatconv.testing.templates import Template, thing
from heatconv.testing.trees import policy, scaled
from tests.chaos.bench import DEATHS, judge
from tests.chaos.stories import SIGNAL, Story

BEFORE = Template(G=scaled(1, thing("s")), P=policy("G", 1))


def grown(by):
    return BEFORE.but(G=scaled(1 + by, thing("s")))


def test_a_wish_is_carried_out_once_wherever_its_engine_dies(bench):
    story = Story(before=BEFORE, ask=SIGNAL, wanted=grown(1), exact=True)
    undisturbed = bench.play(story)

    deaths = DEATHS["an engine dies, nobody asks again"](bench, story).each

    wrong = {death: judge(bench.play(story, death), undisturbed, story, death) for death in deaths}
    assert {death: problems for death, problems in wrong.items() if problems} == {}
    assert len(deaths) > 30


def test_what_several_wish_who_die_is_carried_out_in_one_go(bench):
    passed = bench.play(Story(before=BEFORE, ask=SIGNAL, wanted=grown(1))).engine
    written = passed.index("after metadata_set") + 1
    stage = bench.set_up(BEFORE)
    for _ in range(2):
        stage.add_engine(written)
        stage.ask(SIGNAL.method, *SIGNAL.arguments, retry=False)
    stage.add_engine()
    stage.add_worker()

    stage.run()

    assert bench.problems(grown(2)) == []
    with bench.database.engine.connect() as connection:
        begun = sa.select(sa.func.count()).where(
            event.c.stack_id == stack.c.id,
            event.c.resource_id.is_(None),
            stack.c.owner_resource_id.is_not(None),
            event.c.action == "UPDATE",
            event.c.status == Status.IN_PROGRESS,
        )
        assert connection.scalar(begun) == 1
        assert connection.scalar(sa.select(sa.func.count()).select_from(wish)) == 0
