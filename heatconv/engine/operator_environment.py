# SPDX-License-Identifier: Apache-2.0
"""The operator's environment: what the files of a directory say to all templates."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heatconv import errors, template

LOG = logging.getLogger(__name__)

_EFFECTIVE = ("resource_registry", "parameter_defaults", "guards")


def load(directory: str, stand_for: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return what the files of a directory say, those later by name over those before.

    A directory that does not exist says nothing.

    Args:
        directory: of the operator.
        stand_for: what types are mapped to where no file says otherwise.

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
            ", ".join(_EFFECTIVE),
            ", ".join(idle),
        )
    effective = {section: merged[section] for section in _EFFECTIVE if section in merged}
    return effective | {"resource_registry": {**(stand_for or {}), **effective["resource_registry"]}}


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise errors.Misconfigured(reason=f"The environment {path} cannot be read: {error}") from error
