# SPDX-License-Identifier: Apache-2.0
"""Hold the resource types of two orchestration services against each other.

    python -m tools.compare_types http://127.0.0.1:8004/v1/$PROJECT http://127.0.0.1:8005/v1/default

The first is Heat's, the second ours; ``OS_TOKEN`` holds a token if one of them asks for it.
Prints where they are not equal, and returns 1 if there is anything that is not among
``KNOWN``.  Compared are the names of the types and, of each, its support status, its properties
with all that a schema says, and its attributes; not compared are the texts that describe them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import quote

import requests

from tools.compatibility import REASONS, SAMPLES

Json = Mapping[str, Any]

#: What describes, and is written anew here.
_TEXTS = ("description", "message")

#: Where the two differ on purpose: a pattern for what is printed, and why.
KNOWN: Mapping[str, str] = {
    **{f"{name}: missing": why for name, why in REASONS["resource types"].items()},
    **{
        f"{name}: missing": f"a template of Heat's sample environment: {why}" for name, why in SAMPLES.items()
    },
    "OS::Heat::SoftwareComponent.attributes.configs: *": "Heat forgets to declare it, and so refuses it",
}


class Types:
    """The types of one service."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = f"{endpoint.rstrip('/')}/resource_types"
        self._session = requests.Session()
        self._session.headers["X-Auth-Token"] = os.environ.get("OS_TOKEN", "")

    def names(self) -> set[str]:
        """Return the names of those that are listed."""
        return set(self._get("")["resource_types"])

    def show(self, name: str) -> Json:
        """Return one."""
        return self._get(f"/{quote(name, safe='')}")

    def _get(self, path: str) -> Json:
        answer = self._session.get(self._endpoint + path, timeout=120)
        answer.raise_for_status()
        found: Json = answer.json()
        return found


def differences(heats: Types, ours: Types) -> Iterator[str]:
    """Yield a line for each difference."""
    theirs, mine = heats.names(), ours.names()
    yield from (f"{name}: missing" for name in sorted(theirs - mine))
    yield from (f"{name}: not Heat's" for name in sorted(mine - theirs))
    for name in sorted(theirs & mine):
        for where, heat, our in _unequal(_bare(heats.show(name)), _bare(ours.show(name))):
            yield f"{name}{where}: Heat {heat!r}, here {our!r}"


def _bare(shown: Any) -> Any:
    """Return what is shown without the texts that describe it."""
    if isinstance(shown, dict):
        return {key: _bare(value) for key, value in shown.items() if not _is_text(key, value)}
    return [_bare(each) for each in shown] if isinstance(shown, list) else shown


def _is_text(key: str, value: Any) -> bool:
    return key in _TEXTS and (value is None or isinstance(value, str))


def _unequal(heat: Any, our: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(heat, dict) and isinstance(our, dict):
        for key in sorted(heat.keys() | our.keys()):
            yield from _unequal(heat.get(key), our.get(key), f"{where}.{key}")
    elif heat != our:
        yield where, heat, our


def main() -> int:
    """Print the differences; tell whether there are any that nobody knows."""
    heats, ours = (Types(endpoint) for endpoint in sys.argv[1:3])
    unknown = 0
    for line in differences(heats, ours):
        reason = next((why for pattern, why in KNOWN.items() if fnmatchcase(line, pattern)), None)
        unknown += reason is None
        print(line if reason is None else f"{line} ({reason})")
    print(f"{len(heats.names())} types of Heat's, {len(ours.names())} here; {unknown} differences")
    return min(unknown, 1)


if __name__ == "__main__":
    sys.exit(main())
