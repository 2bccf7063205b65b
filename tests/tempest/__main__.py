# SPDX-License-Identifier: Apache-2.0
"""Run OpenStack's own suites for Heat: heat-tempest-plugin, and Heat's heat_integrationtests.

    tox -e tempest                                 all of them
    tox -e tempest -- test_hooks 'gabbi|Tags'      the tests whose names have one of the patterns in them
    tox -e tempest -- --serve                      start what they run against, and say how to run some

    tox -e tempest-cloud                           with a cloud, found by OS_CLOUD or an openrc
    tox -e tempest-cloud -- --results ours         note in a file, too, what each test came to
    tox -e tempest-cloud -- --heat --results its   with the service that the cloud's catalog has: Heat itself
    tox -e tempest-cloud -- --beside ours its      say which tests ended otherwise

All of them take 3 minutes on two cores that others use, too, and longer with a cloud, which takes its time;
installing and starting what they need takes the first run 2 minutes more.

Each test has to pass, or to be named, with the reason, in ``deselected.list``, or in
``deselected-cloud.list`` where there is a cloud.  Those are run too, as they fail at once: one
that passes, and a name that no test has, are errors.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.tempest.deselected import CLOUD, LIST, Deselected
from tests.tempest.installation import installation
from tests.tempest.results import End, add, beside, read

#: They mostly wait.
PROCESSES = 8

Environment = Mapping[str, str]


def main() -> int:
    """Do as the arguments say; return the exit code."""
    parser = argparse.ArgumentParser(prog="tox -e tempest --", description=__doc__.split("\n\n")[0])
    parser.add_argument("patterns", nargs="*", help="of the names of the tests to run (default: all)")
    parser.add_argument(
        "--processes", type=int, default=PROCESSES, help="tests to run at a time (%(default)s)"
    )
    parser.add_argument("--serve", action="store_true", help="run none, but keep running what they need")
    parser.add_argument("--served", action="store_true", help="run them against what --serve started")
    parser.add_argument("--cloud", action="store_true", help="with the services of a cloud")
    parser.add_argument("--heat", action="store_true", help="with what the cloud's catalog has for heatconv")
    parser.add_argument("--results", type=Path, help="a file that each test's end is added to")
    parser.add_argument(
        "--beside",
        nargs=2,
        type=Path,
        metavar="RESULTS",
        help="run none, but say where two such files differ",
    )
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if arguments.beside:
        for line in beside(*map(read, arguments.beside)):
            _say(line)
        return 0
    run = Run(
        Deselected.read(CLOUD if arguments.cloud else LIST),
        arguments.patterns,
        arguments.processes,
        arguments.results,
    )
    if arguments.served:
        return run(os.environ)
    with (
        tempfile.TemporaryDirectory() as directory,
        _installed(Path(directory), cloud=arguments.cloud, heat=arguments.heat) as environment,
    ):
        return serve(environment) if arguments.serve else run(environment)


def _installed(directory: Path, *, cloud: bool, heat: bool) -> AbstractContextManager[Environment]:
    if not cloud:
        return installation(directory)
    # What it imports is installed for it only.
    from tests.tempest.on_cloud import heatconv, on_cloud, whatever_is_there  # noqa: PLC0415

    return on_cloud(directory, whatever_is_there if heat else heatconv)


def serve(environment: Environment) -> int:
    """Say how the tests are run elsewhere, and wait to be stopped."""
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
    _say(f"{settings} {sys.executable} -m tests.tempest --served PATTERN...")
    try:
        signal.pause()
    except KeyboardInterrupt:
        return 0
    return 1


@dataclass(frozen=True)
class Run:
    """Runs the tests that fit, says how each of them ended, and what came of it all."""

    deselected: Deselected
    patterns: Collection[str]
    processes: int
    results: Path | None

    def __call__(self, environment: Environment) -> int:
        """Run them; return the exit code."""
        began = time.monotonic()
        known = list(_pool(environment, ["--list"], lambda line: line))
        chosen = {test for test in known if self._fits(test)}
        passed, failed, left_out = 0, [], 0
        for end in _pool(environment, ["--processes", str(self.processes)], json.loads, "\n".join(chosen)):
            if end["test"] in known and end["test"] not in chosen:
                continue  # it only comes before one that was asked for
            if self.results:
                add(self.results, end["test"], End(end["outcome"], end["why"]))
            verdict = self.deselected.verdict(end["test"], end["outcome"], end["why"])
            _say(f"{verdict.outcome:10} {end['seconds']:6.1f} s  {end['test']}")
            passed += verdict.outcome == "passed"
            left_out += verdict.outcome == "deselected"
            chosen.discard(end["test"])
            if verdict.outcome == "failed":
                failed.append(f"{end['test']}\n{verdict.why}")
        failed += [f"{test}\nIt did not run." for test in sorted(chosen)]
        failed += [
            f"{name}\nThere is no such test: {self.deselected.file} must not list it."
            for name in self.deselected.unknown(known)
        ]
        for problem in failed:
            _say(f"\n=== {problem}")
        minutes, seconds = divmod(round(time.monotonic() - began), 60)
        _say(f"\n{passed} passed, {len(failed)} failed, {left_out} deselected, in {minutes} min {seconds} s")
        return 1 if failed else 0

    def _fits(self, test: str) -> bool:
        return not self.patterns or any(re.search(one, test) for one in self.patterns)


def _pool(
    environment: Environment, arguments: list[str], read: Callable[[str], Any], tests: str = ""
) -> Iterator[Any]:
    """Yield the output of the program that runs the tests, line by line."""
    command = [sys.executable, "-m", "tests.tempest.pool", *arguments]
    with tempfile.TemporaryFile("w+") as chosen:
        chosen.write(tests)
        chosen.seek(0)
        with subprocess.Popen(
            command, stdin=chosen, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
        ) as pool:
            assert pool.stdout
            for line in pool.stdout:
                yield read(line.rstrip("\n"))


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - it is what the program is for


if __name__ == "__main__":
    sys.exit(main())
