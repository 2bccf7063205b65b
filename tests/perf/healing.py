# SPDX-License-Identifier: Apache-2.0
"""How long it takes until what changed behind our back is healed: ``python -m tests.perf.healing``.

python -m tests.perf.healing --database URL --transport URL
    [--objects 1000] [--drifted 200] [--stacks 4] [--interval 10] [--seed 1] [--away 120]

Real daemons, one API, one engine, two workers, and the fake cloud. Objects of
some stacks are deleted, altered or broken at random: once while nothing tells
of it, and they are found when their stacks' turn has come, every ``--interval``
seconds; once while the cloud publishes notifications, and no turn ever comes.
Each time it prints the seconds from a change to the moment at which the cloud
has the object as it was wanted, and that each object is there once and refers to
what it should; if not, it ends with an error.

At last the cloud refuses to tell of any object for ``--away`` seconds: how often
it was asked meanwhile is printed, and when an object that was deleted in that
time was there again.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from heatconv.client.http import Client
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import Template, attr, differences, thing
from tests.functional.servers.daemons import Daemons
from tests.perf import report
from tests.perf.deployment import OPTIONS
from tests.perf.machine import facts

Json = dict[str, Any]

LOOK = 0.1  #: seconds between two looks at the cloud
PATIENCE = 1800.0  #: seconds that anything may take
NEVER = 30_000_000  #: seconds between two turns
WAYS = ("deleted", "altered", "broken")
PATHS = ("interval", "notifications")


class Stacks:
    """Some stacks of the same template, and the objects behind them."""

    def __init__(self, daemons: Daemons, number: int, objects: int) -> None:
        self._client = Client(daemons.endpoint, timeout=PATIENCE)
        self.cloud = CloudControl(daemons.cloud_url)
        self.template = _template(objects // number)
        self.names = [f"healed-{place}" for place in range(number)]

    def create(self, interval: float) -> None:
        """Create them, and wait until they are there."""
        policy = {"policy": "heal", "interval": interval}
        body = {"template": self.template.hot(), "convergence": policy}
        for name in self.names:
            self._client.create_stack({"stack_name": name, **body})
        _await(lambda: set(self._states()) == {"CREATE_COMPLETE"}, 0.5)

    def delete(self) -> None:
        """Delete them, and wait until they are gone."""
        for name in self.names:
            self._client.delete_stack(name)
        _await(lambda: not list(self._client.list_stacks({})), 0.5)
        self._client.close()

    def is_at_rest(self) -> bool:
        """Tell whether nothing goes on in any of them."""
        return not any(state.endswith("IN_PROGRESS") for state in self._states())

    def problems(self) -> list[str]:
        """Return what is not as it was wanted."""
        return [
            f"{name}: {problem}"
            for name in self.names
            for problem in differences(self.template, self.cloud.owned(f"{name}/"))
        ]

    def _states(self) -> list[str]:
        return [stack["stack_status"] for stack in self._client.list_stacks({})]


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    chance = random.Random(arguments.seed)
    records = [_healed(path, arguments, chance) for path in PATHS]
    report.say(_spared(arguments))
    print("\n| path | way | objects | median s | longest s |\n|---|---|---|---|---|")
    for record in records:
        for way, seconds in record["seconds"].items():
            print(
                f"| {record['path']} | {way} | {len(seconds)} |"
                f" {statistics.median(seconds):.2f} | {max(seconds):.2f} |"
            )
    if any(record["problems"] for record in records):
        sys.exit("not everything was healed")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--objects", type=int, default=1000)
    parser.add_argument("--drifted", type=int, default=200)
    parser.add_argument("--stacks", type=int, default=4)
    parser.add_argument("--interval", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--away", type=float, default=120)
    return parser.parse_args()


def _healed(path: str, arguments: argparse.Namespace, chance: random.Random) -> Json:
    """Let things happen to stacks on a path, print how long they took to heal, and return it."""
    hears = path == "notifications"
    with _running(arguments, hears=hears) as daemons:
        stacks = Stacks(daemons, arguments.stacks, arguments.objects)
        stacks.create(NEVER if hears else arguments.interval)
        before = {found["owner"]: found for found in stacks.cloud.owned()}
        since = {
            owner: (way, _change(stacks.cloud, before[owner]["id"], way))
            for owner, way in _chosen(sorted(before), arguments.drifted, chance)
        }
        healed = _watch(stacks.cloud, before, since)
        _await(lambda: stacks.is_at_rest() and not stacks.problems(), 0.5, patience=120)
        seconds: dict[str, list[float]] = {"all": []}
        for owner, (way, changed) in since.items():
            took = round(healed[owner] - changed, 2)
            seconds.setdefault(way, []).append(took)
            seconds["all"].append(took)
        record = {"path": path, "problems": stacks.problems(), "seconds": seconds}
        report.say(record)
        stacks.delete()
        return record


def _spared(arguments: argparse.Namespace) -> Json:
    """Let the cloud refuse to tell of anything for a while; return how often it was asked."""
    with _running(arguments, hears=False) as daemons:
        stacks = Stacks(daemons, arguments.stacks, arguments.objects)
        stacks.create(arguments.interval)
        stacks.cloud.fail(FailureRule(op="show_many", status=503, times=None))
        begun = len(stacks.cloud.audit())
        stacks.cloud.vanish(stacks.cloud.owned()[0]["id"])
        time.sleep(arguments.away)
        calls = sum(entry.op == "show_many" for entry in stacks.cloud.audit(begun))
        stacks.cloud.stop_failing()
        back = time.monotonic()
        _await(lambda: stacks.is_at_rest() and not stacks.problems(), 0.5)
        record = {
            "path": "failing cloud",
            "seconds_away": arguments.away,
            "turns_meanwhile": round(arguments.stacks * arguments.away / arguments.interval),
            "calls_meanwhile": calls,
            "healed_after_it_was_back": round(time.monotonic() - back, 1),
        }
        stacks.delete()
        return record


@contextmanager
def _running(arguments: argparse.Namespace, *, hears: bool) -> Iterator[Daemons]:
    """Run the daemons; healing as often as this is what is measured, and not kept from happening."""
    observer = {"max_heals_per_hour": 10_000, "notification_topics": "notifications" if hears else ""}
    with (
        tempfile.TemporaryDirectory(prefix="heatconv-perf-") as directory,
        Daemons(
            Path(directory),
            database_url=arguments.database,
            transport_url=arguments.transport,
            engines=1,
            workers=2,
            pace={},
            options={**OPTIONS, "observer": observer},
            notify=hears,
        ) as daemons,
    ):
        yield daemons


def _template(size: int) -> Template:
    """Return so many things, every tenth of which refers to the one before it."""
    things = {}
    for number in range(size):
        before = f"R{number - 1:04}"
        refers = number % 10 == 9
        value = attr(before, "id") if refers else str(number)
        things[f"R{number:04}"] = thing(value, uses=[before] if refers else [])
    return Template(**things)


def _chosen(owners: Sequence[str], number: int, chance: random.Random) -> list[tuple[str, str]]:
    return [(owner, chance.choice(WAYS)) for owner in chance.sample(owners, number)]


def _change(cloud: CloudControl, object_id: str, way: str) -> float:
    """Let something happen to an object; return when."""
    match way:
        case "deleted":
            cloud.vanish(object_id)
        case "altered":
            cloud.meddle(object_id, {"value": "altered"})
        case _:
            cloud.spoil(object_id)
    return time.monotonic()


def _watch(
    cloud: CloudControl, before: Mapping[str, Json], since: Mapping[str, tuple[str, float]]
) -> dict[str, float]:
    """Return when each of some objects was as it was wanted again, by its owner."""
    healed: dict[str, float] = {}

    def look() -> bool:
        now = time.monotonic()
        found: dict[str, list[Json]] = {}
        for each in cloud.owned():
            found.setdefault(each["owner"], []).append(each)
        for owner in since.keys() - healed.keys():
            if _is_well(found.get(owner, []), before[owner], since[owner][0]):
                healed[owner] = now
        return len(healed) == len(since)

    _await(look, LOOK)
    return healed


def _is_well(found: Sequence[Json], was: Json, way: str) -> bool:
    """Tell whether an object is there once, and is what it was or, where it had to be, another."""
    if len(found) != 1 or found[0]["status"] != "ACTIVE":
        return False
    if way == "altered":
        return bool(found[0]["properties"]["value"] != "altered")
    return bool(found[0]["id"] != was["id"])


def _await(holds: Callable[[], bool], pause: float, patience: float = PATIENCE) -> None:
    """Wait until something holds; the caller finds out if it never does."""
    deadline = time.monotonic() + patience
    while not holds() and time.monotonic() < deadline:
        time.sleep(pause)


if __name__ == "__main__":
    main()
