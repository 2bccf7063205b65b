# SPDX-License-Identifier: Apache-2.0
"""A plan as a file: written while its resources arrive, and read for what is asked of it later."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TextIO

from heatconv.cli.base import CommandFailed
from heatconv.client import long_json
from heatconv.client.http import Json

_HELD = 1 << 20  #: bytes of resources that are not put on a disk meanwhile
_PIECE = 1 << 16


class PlanWriter:
    """Writes a plan: its resources last, one a line, so that a file can be searched and compared."""

    def __init__(self, out: TextIO) -> None:
        """Take what to write to, once the plan is complete."""
        self._out = out
        self._resources = SpooledTemporaryFile(_HELD, "w+", encoding="utf-8")  # noqa: SIM115 - closed by close()
        self._separator = ""

    def add(self, resource: Json) -> None:
        """Keep a resource, the next one."""
        self._resources.write(f"{self._separator}\n{json.dumps(resource)}")
        self._separator = ","

    def close(self, plan: Json) -> None:
        """Write the plan, of which ``plan`` is all but the resources."""
        head = json.dumps(plan, indent=1)
        self._out.write(f'{head.removesuffix("}").rstrip()},\n "resources": [')
        self._resources.seek(0)
        shutil.copyfileobj(self._resources, self._out)
        self._resources.close()
        self._out.write("\n]}\n")


def identify(plan: str) -> str:
    """Return the id of a plan, which is what it is told by, or what the file has that it is told by.

    Raises:
        CommandFailed: there is a file of that name, and it has no plan in it.
    """
    if not plan:
        return plan  # which is no file's name, and no plan's id
    try:
        with Path(plan).open(encoding="utf-8") as file:
            pieces = iter(lambda: file.read(_PIECE), "")
            found = long_json.read(pieces, ["resources"], lambda _resource: None)
    except FileNotFoundError:
        return plan
    except OSError as error:
        raise CommandFailed(f"{plan} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # it is no JSON, or no text
        raise CommandFailed(f"{plan} is no plan: {error}.") from error
    if not (isinstance(found.get("id"), str) and str(found.get("schema_version")).startswith("1.")):
        raise CommandFailed(f"{plan} is no plan as 'heatconv stack plan --out {plan}' writes one.")
    return str(found["id"])
