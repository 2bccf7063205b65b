# SPDX-License-Identifier: Apache-2.0
"""What a user posted, laid over what others have made of the stack since it was planned.

Piece by piece: a resource, a parameter, an output, a file.  Of a piece that the plan leaves as it
was, that of the others counts; of one that both have changed, neither can: that is refused.  What
was there when it was planned is remembered by digests only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from heatconv.engine.source import Source
from heatconv.model.definition import canonical

Path = tuple[str, ...]

#: The sections whose entries are pieces of their own; whatever else there is, is one.
_SECTIONS = {
    "template": frozenset({"resources", "parameters", "outputs", "conditions", "mappings"})
    | frozenset({"Resources", "Parameters", "Outputs", "Conditions", "Mappings"}),
    "environment": frozenset({"parameters", "parameter_defaults", "resource_registry", "guards"}),
}


class BothChanged(Exception):
    """Others have changed what the plan changes as well; ``path`` leads there."""

    def __init__(self, path: Path) -> None:
        super().__init__(".".join(path[1:] if path[0] == "template" else path))


def digests(source: Source) -> dict[str, str]:
    """Return a digest of each piece of a source, by its path as JSON has it."""
    return {canonical(path): digest(piece) for path, piece in _pieces(source)}


def merged(base: Mapping[str, str], posted: Source, now: Source) -> Source:
    """Return a source with what was posted where it differs from the base, and else as it is now.

    Raises:
        BothChanged: both differ from the base, and from each other.
    """
    wanted, there = dict(_pieces(posted)), dict(_pieces(now))
    pieces: dict[Path, Any] = {}
    for path in [*wanted, *(path for path in there if path not in wanted)]:
        before = base.get(canonical(path))
        mine = digest(wanted[path]) if path in wanted else None
        theirs = digest(there[path]) if path in there else None
        if theirs in (before, mine):
            chosen = wanted
        elif mine == before:
            chosen = there
        else:
            raise BothChanged(path)
        if path in chosen:
            pieces[path] = chosen[path]
    return _put_together(posted, pieces)


def _pieces(source: Source) -> Iterator[tuple[Path, Any]]:
    for part in ("template", "environment"):
        sections = _SECTIONS[part]
        for key, value in getattr(source, part).items():
            if key in sections and isinstance(value, Mapping):
                for name, piece in value.items():
                    yield (part, key, str(name)), piece
            else:
                yield (part, key), value
    for name, text in source.files.items():
        yield ("files", name), text


def _put_together(posted: Source, pieces: Mapping[Path, Any]) -> Source:
    parts: dict[str, dict[str, Any]] = {"template": {}, "environment": {}, "files": {}}
    for key, value in posted.environment.items():
        if key in _SECTIONS["environment"] and isinstance(value, Mapping):
            parts["environment"][key] = {}
    for (part, *rest), piece in pieces.items():
        *sections, name = rest
        level = parts[part]
        for section in sections:
            level = level.setdefault(section, {})
        level[name] = piece
    return replace(posted, template=parts["template"], environment=parts["environment"], files=parts["files"])


def digest(piece: Any) -> str:
    """Return what finds out whether a piece, or a value, was changed."""
    # Not for security: it finds what was changed.
    return hashlib.sha1(canonical(piece).encode(), usedforsecurity=False).hexdigest()
