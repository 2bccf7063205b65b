# SPDX-License-Identifier: Apache-2.0
"""From files on the user's side to the body of a request.

A template, its environments and every file they refer to are read here, since
the service fetches nothing.  Files are named relative to the template's
directory, so that the same stack comes of every checkout; what came by HTTP is
named by its URL, and may refer to what comes by HTTP only: whoever wrote it has
no right to a file of the user's.  A template that needs no renaming is sent as it
was written.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import requests
import yaml

from heatconv.errors import UserError

_TEMPLATE = re.compile(r".+\.(yaml|yml|template)$")
_BASE = "base_url"
_TIMESTAMP = "tag:yaml.org,2002:timestamp"


#: Each reference: the map that has it, under which key, what it is relative to, and what adds its target.
_References = Iterator[tuple[dict[str, Any], str, str, Callable[[str, str], str]]]


class _Loader(yaml.SafeLoader):
    """YAML without timestamps: a template's version looks like one but is a text."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - how PyYAML is told
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def collect(template: str | None, environments: Sequence[str] = ()) -> dict[str, Any]:
    """Return ``template`` (if there is one), ``files`` and ``environment_files`` of a request.

    Raises:
        UserError: a file that is referred to cannot be read.
    """
    root = _absolute(template or "-")
    files = _Files(root)
    body: dict[str, Any] = {"template": files.template(root)} if template else {}
    if environments:
        body["environment_files"] = [files.add_environment(_absolute(one)) for one in environments]
    return body | {"files": files.texts}


def read(place: str) -> str:
    """Return the text of a file, told by name or URL.

    Raises:
        UserError: it cannot be read.
    """
    return _read(_absolute(place), None)


def read_map(place: str) -> dict[str, Any]:
    """Return the map that a file has in it as JSON or YAML.

    Raises:
        UserError: it cannot be read, or has something else in it.
    """
    try:
        data = yaml.load(read(place), _Loader)  # noqa: S506 - a kind of SafeLoader
    except (yaml.YAMLError, RecursionError) as error:
        raise UserError(f"{place} is neither JSON nor YAML.") from error
    if not isinstance(data, dict):
        raise UserError(f"{place} has no map in it, such as {{}}.")
    return data


class _Files:
    """What has been read so far, by the name it is sent under."""

    def __init__(self, root: str) -> None:
        self.texts: dict[str, str] = {}
        self._base = Path.cwd() if _is_url(root) else Path(root).parent

    def template(self, place: str, *, wanted_by: str | None = None) -> str:
        """Return the text of a template after adding all that it refers to."""
        return self._rewritten(place, wanted_by, self._template_references)

    def add_environment(self, place: str) -> str:
        """Add an environment and what it refers to; return its name."""
        name = self._name(place)
        self.texts[name] = self._rewritten(place, None, self._environment_references)
        return name

    def _rewritten(
        self, place: str, wanted_by: str | None, references: Callable[[Any, str], _References]
    ) -> str:
        text = _read(place, wanted_by)
        try:
            data = yaml.load(text, _Loader)  # noqa: S506 - a kind of SafeLoader
        except (yaml.YAMLError, RecursionError):
            return text  # the service says what is wrong, and where
        renamed = False
        for holder, key, base, add in list(references(data, place)):
            written = holder[key]
            holder[key] = add(_referred(base, written, place), place)
            renamed = renamed or holder[key] != written
        return json.dumps(data) if renamed else text

    def _template_references(self, data: Any, place: str) -> _References:
        for holder in _maps(data):
            if isinstance(holder.get("get_file"), str):
                yield holder, "get_file", place, self._add_file
            if _is_template(holder.get("type")):
                yield holder, "type", place, self._add_template

    def _environment_references(self, data: Any, place: str) -> _References:
        registry = data.get("resource_registry") if isinstance(data, dict) else None
        # What a map says of its base goes for the maps below it.
        pending, seen = [(registry, place)], set()
        while pending:
            holder, base = pending.pop()
            if not isinstance(holder, dict) or id(holder) in seen:
                continue
            seen.add(id(holder))
            if isinstance(holder.get(_BASE), str):
                base = _referred(base, f"{holder[_BASE].rstrip('/')}/-", place)
            for key, value in holder.items():
                pending.append((value, base))
                if key != _BASE and _is_template(value):
                    yield holder, key, base, self._add_template

    def _add_file(self, place: str, wanted_by: str) -> str:
        name = self._name(place)
        if name not in self.texts:
            self.texts[name] = _text(_fetch(place, wanted_by))
        return name

    def _add_template(self, place: str, wanted_by: str) -> str:
        name = self._name(place)
        if name not in self.texts:
            self.texts[name] = ""  # known from now on, should the template contain itself
            self.texts[name] = self.template(place, wanted_by=wanted_by)
        return name

    def _name(self, place: str) -> str:
        return place if _is_url(place) else Path(os.path.relpath(place, self._base)).as_posix()


def _maps(data: Any) -> Iterator[dict[str, Any]]:
    """Yield every map inside parsed YAML once, however many aliases it has."""
    pending, seen = [data], set()
    while pending:
        value = pending.pop()
        if not isinstance(value, dict | list) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            yield value
            pending += reversed(value.values())
        else:
            pending += reversed(value)


def _is_template(value: Any) -> bool:
    return isinstance(value, str) and _TEMPLATE.match(value) is not None


def _is_url(place: str) -> bool:
    return place.lower().startswith(("http://", "https://"))


def _absolute(place: str) -> str:
    return _resolve(str(Path.cwd() / "-"), place)


def _resolve(base: str, reference: str) -> str:
    """Return where a reference leads that is written in the file at ``base``."""
    if _is_url(reference):
        return reference
    if reference.startswith("file://"):
        return unquote(urlsplit(reference).path)
    if _is_url(base):
        return urljoin(base, reference)
    return os.path.normpath(Path(base).parent / reference)


def _referred(base: str, reference: str, place: str) -> str:
    """Return where a reference leads that is written in the file at a place, relative to a base.

    Raises:
        UserError: that came by HTTP, and wants something else.
    """
    target = _resolve(base, reference)
    if _is_url(place) and not _is_url(target):
        raise UserError(
            f"{place} refers to {reference.removesuffix('/-')}: what comes over HTTP may refer to what comes"
            " over HTTP only. Save it to a file of your own if you want that sent."
        )
    return target


def _fetch(place: str, wanted_by: str | None) -> bytes:
    try:
        if _is_url(place):
            response = requests.get(place, timeout=60)
            response.raise_for_status()
            return response.content
        return Path(place).read_bytes()
    except OSError as error:  # requests' errors are of this kind, too
        reason = error.strerror or str(error)
        raise UserError(f"{_named(place, wanted_by)} cannot be read: {reason}.") from error


def _read(place: str, wanted_by: str | None) -> str:
    try:
        return _fetch(place, wanted_by).decode()
    except UnicodeDecodeError as error:
        raise UserError(f"{_named(place, wanted_by)} is not UTF-8 text.") from error


def _text(content: bytes) -> str:
    """Return content as a request can carry it: as it is if it is text, in base64 if it is not."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return base64.encodebytes(content).decode()


def _named(place: str, wanted_by: str | None) -> str:
    return f"{place}, which {wanted_by} refers to," if wanted_by else place
