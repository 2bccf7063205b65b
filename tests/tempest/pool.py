# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the suites, some at a time: a program of its own, with tempest's configuration.

    python -m tests.tempest.pool --list
    python -m tests.tempest.pool --processes 8 < IDS

The suites are loaded once, and each process is a copy of the one that did; it takes
the next group of tests when it has done with one.  Each test that ended is a line of
JSON on standard output.  A file of gabbi's is one group, for its tests go on from one
another; every other test is one by itself.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
import traceback
import unittest
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

warnings.simplefilter("ignore")  # the suites' own, and those of what they use

import heat_integrationtests  # noqa: E402 - after the filter
import heat_tempest_plugin  # noqa: E402
from gabbi.suite import GabbiSuite  # noqa: E402
from testscenarios import generate_scenarios  # noqa: E402

SUITES = (heat_integrationtests, heat_tempest_plugin)

#: What the names of the tests have in them that take the longest: these wait for something to time out.
LONG = ("SimultaneousUpdate", "StackCancel", "DeleteInProgress", "GroupUpdatePolicy", "Purge", "Autoscaling")


def load() -> Iterator[unittest.TestSuite]:
    """Yield each suite."""
    for suite in SUITES:
        home = Path(suite.__file__).parent
        # Below the package: what it is itself told to load would be all of them.
        start = home / "functional" if suite is heat_integrationtests else home / "tests"
        yield unittest.TestLoader().discover(str(start), top_level_dir=str(home.parent))


def groups(suite: unittest.TestSuite) -> Iterator[unittest.TestSuite]:
    """Yield what has to stay together: a file of gabbi's, or a single test."""
    for item in suite:
        if isinstance(item, GabbiSuite):
            yield item
        elif isinstance(item, unittest.TestSuite):
            yield from groups(item)
        else:
            yield from (unittest.TestSuite([test]) for test in generate_scenarios(item))


def tests(group: Any) -> Iterator[unittest.TestCase]:
    """Yield the tests of a group."""
    for item in group:
        if isinstance(item, unittest.TestSuite):
            yield from tests(item)
        else:
            yield item


class Result(unittest.TestResult):
    """Says how each test ended, once it has."""

    def __init__(self) -> None:
        super().__init__()
        self._ended: dict[str, Any] = {}

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's name
        super().startTest(test)
        self._ended = {"test": test.id(), "outcome": "passed", "why": ""}
        self._began = time.monotonic()

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's name
        super().stopTest(test)
        self._say(self._ended | {"seconds": round(time.monotonic() - self._began, 1)})

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802 - unittest's name
        self._end(test, "skipped", reason)

    def addError(self, test: Any, err: Any, details: Any = None) -> None:  # noqa: N802 - unittest's name
        self._end(test, "failed", _text(err))

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802 - unittest's name
        self._end(test, "failed", _text(err))

    def _end(self, test: Any, outcome: str, why: str) -> None:
        if self._ended.get("test") == test.id():
            if self._ended["outcome"] != "failed":
                self._ended.update(outcome=outcome, why=why)
        else:  # what a class or a file is set up with
            self._say({"test": test.id(), "outcome": outcome, "why": why, "seconds": 0})

    def _say(self, ended: dict[str, Any]) -> None:
        os.write(1, (json.dumps(ended) + "\n").encode())


def _text(err: Any) -> str:
    return "".join(traceback.format_exception(*err))


def _work(todo: Sequence[unittest.TestSuite], next_one: Any) -> None:
    while True:
        with next_one.get_lock():
            number = next_one.value
            next_one.value += 1
        if number >= len(todo):
            return
        todo[number].run(Result())


def _is_long(group: Any) -> bool:
    return isinstance(group, GabbiSuite) or any(name in test.id() for test in tests(group) for name in LONG)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    loaded = [group for suite in load() for group in groups(suite)]
    if arguments.list:
        for group in loaded:
            print("\n".join(test.id() for test in tests(group)))  # noqa: T201
        return
    wanted = set(sys.stdin.read().split("\n"))
    todo = [group for group in loaded if any(test.id() in wanted for test in tests(group))]
    todo.sort(key=lambda group: not _is_long(group))  # or everybody waits for one at the end
    context = multiprocessing.get_context("fork")
    next_one = context.Value("i", 0)
    workers = [context.Process(target=_work, args=(todo, next_one)) for _ in range(arguments.processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()
