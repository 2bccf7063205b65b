# SPDX-License-Identifier: Apache-2.0
"""An upgrade under load, there and back again, with daemons that are killed meanwhile.

All daemons are of the last release when users begin to ask.  The schema is expanded under them, then one
after the other is replaced by one of this release, then by one of the last one again, and so on.  Every
other time a daemon is killed instead of asked to end, and while one is away, another one is killed.
"""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from pathlib import Path

from tests.chaos.run import Report, listed
from tests.chaos.users import Users
from tests.functional.servers import last_release
from tests.functional.servers.mixed import NEW, OLD, Mixed

REQUESTS = 6  #: that are answered between two replacements


def roll(directory: Path, *, start: int, seconds: float, database_url: str, transport_url: str) -> Report:
    """Upgrade heatconv and take it back for some time, on an empty database, and judge how that ended."""
    old = last_release.unpack(directory / "last-release")
    choice, counts = random.Random(f"{start} rolling"), Counter[str]()
    with Mixed(
        directory, old=old, database_url=database_url, transport_url=transport_url, pace={}
    ) as daemons:
        users = Users(daemons, deletes=True)
        with users.at_work():
            users.wait_for(REQUESTS)
            begun = time.monotonic()
            synced = daemons.manage("db_sync")
            said = f"db_sync under the last release's daemons: {synced.stdout.strip()}{synced.stderr.strip()}"
            for release in itertools.cycle((NEW, OLD)):
                _replace_all(daemons, users, release, choice, counts, until=begun + seconds)
                if users.refused or time.monotonic() >= begun + seconds:
                    break
                counts[f"times all were {release}"] += 1
        problems = users.problems()
        problems += [] if synced.returncode == 0 else [said]
    answered, faults = users.counts["answered"], users.counts["5xx"]
    lines = [
        said,
        f"{counts.total()} events: {listed(counts)}",
        f"{answered} requests for {len(users.trials)} stacks, {len(users.deleted)} of them deleted",
        f"{users.counts['not answered']} requests found no API or lost it, and were asked again",
        f"{len(problems)} wrong, {faults} of 5xx",
    ]
    return Report(problems=problems, lines=lines)


def _replace_all(
    daemons: Mixed, users: Users, release: str, choice: random.Random, counts: Counter[str], *, until: float
) -> None:
    """Replace each daemon by one of a release, in any order, until some moment."""
    names = list(daemons.processes)
    for name in choice.sample(names, len(names)):
        if users.refused or time.monotonic() >= until:
            return
        users.wait_for(REQUESTS)
        victim = choice.choice([each for each in names if each[:3] != name[:3] and each != "api"])
        is_killed, other_dies = choice.random() < 0.5, choice.random() < 0.5
        if other_dies:
            daemons.kill(victim)
            counts[f"{victim.partition('-')[0]} killed meanwhile"] += 1
        daemons.replace(name, release, killed=is_killed)
        counts[f"{name.partition('-')[0]} replaced, {'killed' if is_killed else 'asked to end'}"] += 1
        if other_dies:
            daemons.start(victim)
            daemons.await_up(victim)
