# SPDX-License-Identifier: Apache-2.0
"""Plugins written for Heat survive: a worker, or an engine, dies at each boundary of each operation.

Their tokens are maps, tuples and objects, their types cannot be searched, some
can be looked into and some cannot.
"""

from __future__ import annotations

import pytest

from tests.chaos.bench import DEATHS, Bench, judge
from tests.chaos.foreign import KINDS, OF_ENGINES, stories
from tests.functional.plugins.conftest import HERE, port

SHOWN = 5
CASES = [
    (kind, name, who)
    for kind in KINDS
    for name in stories(kind)
    for who in ("a worker dies", "an engine dies")
    if (who == "an engine dies") == (name in OF_ENGINES) or name == "restore"
]


@pytest.fixture(scope="module")
def foreign(databases, request, tmp_path_factory):
    ported = tmp_path_factory.mktemp("ported")
    for name in ("cloud_client", "appliance"):
        port(HERE / "heat" / f"{name}.py", ported)
    on = databases(request.config.getoption("--database") or "sqlite")
    url = on.fresh()
    bench = Bench(url, [str(ported)])
    yield bench
    bench.close()
    on.drop(url)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("kind", "name", "who"), CASES)
def test_the_world_comes_out_right_wherever_one_dies(foreign, add_line, kind, name, who):
    story = stories(kind)[name]
    undisturbed = foreign.play(story)
    assert undisturbed.problems == []
    deaths = DEATHS[who](foreign, story)
    wrong, orphans = {}, 0
    for death in deaths.each:
        run = foreign.play(story, death)
        orphans += len(run.orphans)
        problems = judge(run, undisturbed, story, death)
        if problems:
            wrong[death] = "\n".join([f"{death}", *problems, " | ".join(run.history)])
    add_line(
        f"{kind:22} {name:20} {who:28} {deaths.boundaries:4} boundaries, {len(deaths.each):4} runs,"
        f" {len(wrong):3} wrong worlds, {orphans:3} orphans, each told of"
    )
    assert not wrong, "\n\n".join([*wrong.values()][:SHOWN])
