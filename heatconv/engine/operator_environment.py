# SPDX-License-Identifier: Apache-2.0
"""The operator's environment: what the files of a directory say to all templates."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from heatconv import errors, template

LOG = logging.getLogger(__name__)

_EFFECTIVE = ("resource_registry", "parameter_defaults")


def load(directory: str) -> dict[str, Any]:
    """Return what the files of a directory say, those later by name over those before.

    A directory that does not exist says nothing.

    Raises:
        Misconfigured: a file cannot be read, or is no environment.
    """
    files: dict[str, str] = {}
    found = Path(directory)
    for path in sorted(found.iterdir()) if found.is_dir() else ():
        if path.is_file() and not path.name.startswith("."):
            files[str(path)] = _text(path)
    try:
        merged = template.merge(None, list(files), files, {})
    except errors.Invalid as error:
        raise errors.Misconfigured(reason=f"The environment in {directory} is wrong: {error}") from error
    idle = [section for section, content in merged.items() if content and section not in _EFFECTIVE]
    if idle:
        LOG.warning(
            "%s: of an operator's environment only %s have an effect, not %s",
            directory,
            " and ".join(_EFFECTIVE),
            ", ".join(idle),
        )
    return {section: merged[section] for section in _EFFECTIVE}


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise errors.Misconfigured(reason=f"The environment {path} cannot be read: {error}") from error
