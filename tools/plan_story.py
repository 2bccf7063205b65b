# SPDX-License-Identifier: Apache-2.0
"""How a change is reviewed, told by doing it: what doc/source/howto/review-a-change.inc shows.

Runs ``heatconv-all`` with a throw-away state directory, and the program against it: a plan that is
read and applied, then one that something gets in the way of.  Ids and times are not the same twice;
in the page they are.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from tools.tour import TOP, NotAsExpectedError, program, running

COMMAND = "tox -e genplans"
HOWTO = TOP / "doc" / "source" / "howto"
PAGE = HOWTO / "review-a-change.inc"
TEMPLATE = HOWTO / "plans" / "shop.yaml"

_BRIEF = ("-c", "stack_status", "-f", "value")
_CHANGES, _REFUSED = 2, 1  #: exit codes

_ID = re.compile(r"\b[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\b")
_THING = re.compile(r"(?<=\bshop-)(\w+)-[a-z0-9]{12}\b")
_LASTING = re.compile(r"(?<=; about )\d+ s$", re.MULTILINE)
_TIME = re.compile(r"\b\d{4}-(\d\d-\d\d)T\d\d:\d\d:\d\dZ")


def story() -> str:
    """Return the page, made by running what it shows.

    Raises:
        NotAsExpectedError: something did not end as the page says.
    """
    with tempfile.TemporaryDirectory(prefix="heatconv-plans-") as directory:
        here = Path(directory, "here")
        here.mkdir()
        shutil.copy(TEMPLATE, here)
        command = (program("heatconv-all"), "--host", "127.0.0.1", "--port", "0", "--state-dir", directory)
        with running("heatconv", command, Path(directory, "log")) as endpoint:
            return _settled("\n".join(_page(_Shell(endpoint, here))))


class _Shell:
    """Where the commands of the page are run."""

    def __init__(self, endpoint: str, here: Path) -> None:
        self._environment = os.environ | {"HEATCONV_ENDPOINT": endpoint, "NO_COLOR": "1"}
        self._here = here

    def run(self, *arguments: str, ends: int = 0) -> Iterator[str]:
        """Yield a command, and what it printed, as a block of the page."""
        done = subprocess.run(
            [program("heatconv"), *arguments],
            env=self._environment,
            cwd=self._here,
            capture_output=True,
            text=True,
            check=False,
        )
        line = f"heatconv {' '.join(arguments)}"
        if done.returncode != ends:
            raise NotAsExpectedError(f"`{line}` ended with {done.returncode}: {done.stderr}")
        said = done.stdout + (done.stderr if ends == _REFUSED else "")
        yield from ("::", "", f"    $ {line}", *(f"    {each}".rstrip() for each in said.splitlines()), "")


def _page(shell: _Shell) -> Iterator[str]:
    change = ("stack", "plan", "shop", "--existing", "--parameter")
    yield f".. Written by `{COMMAND}`: what it shows was run.\n"
    yield "Here is a stack of make-believe servers:\n"
    yield ".. literalinclude:: plans/shop.yaml\n   :language: yaml\n"
    yield from shell.run("stack", "create", "shop", "-t", "shop.yaml", "--wait", *_BRIEF)
    yield "What would another release of its software do to it?\n"
    yield from shell.run(*change, "release=16", "--out", "plan.json", ends=_CHANGES)
    yield (
        "The database cannot change its release, another takes its place. ``front`` has the id of the\n"
        "database as its value, which nobody knows yet. The members of the group are alike: one entry.\n\n"
        "That is what was wanted; have it done:\n"
    )
    yield from shell.run("stack", "apply", "plan.json", "--wait", *_BRIEF)
    yield "Next, the stack is to have more workers:\n"
    yield from shell.run(*change, "size=7", "--out", "plan.json", ends=_CHANGES)
    yield "While that is being read, somebody else changes the same workers:\n"
    yield from shell.run(
        *("stack", "update", "shop", "--existing", "--parameter", "release=17", "--wait"), *_BRIEF
    )
    yield "The plan does not hold any more, and nothing of it is done:\n"
    yield from shell.run("stack", "apply", "plan.json", ends=_REFUSED)
    yield "A new one goes by what is there now:\n"
    yield from shell.run(*change, "size=7", "--out", "plan.json", ends=_CHANGES)
    yield from shell.run("stack", "apply", "plan.json", "--wait", *_BRIEF)


def _settled(page: str) -> str:
    """Return a page with ids and times that are always the same."""
    numbers = count()
    ids: dict[str, str] = {}
    days = sorted(set(_TIME.findall(page)))

    def made_up(found: re.Match[str]) -> str:
        if found[0] not in ids:
            new = uuid.UUID(int=random.Random(next(numbers)).getrandbits(128), version=4)
            ids[found[0]] = str(new) if "-" in found[0] else new.hex
        return ids[found[0]]

    def some_day(found: re.Match[str]) -> str:
        return f"2026-01-{10 + days.index(found[1])}T12:00:00Z"

    page = _LASTING.sub("1 s", page)
    page = _TIME.sub(some_day, _ID.sub(made_up, page))
    return _THING.sub(r"\1-made7up3id2x", page).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(story())
