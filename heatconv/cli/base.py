# SPDX-License-Identifier: Apache-2.0
"""What every command has: the client, the colours of states, columns of JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, TextIO, cast

from cliff.columns import FormattableColumn
from cliff.command import Command
from cliff.show import ShowOne

from heatconv.client.http import Client
from heatconv.errors import HeatconvError

#: The colour of a status, as rich names it.
STYLES = {"COMPLETE": "green", "IN_PROGRESS": "yellow", "FAILED": "red"}


class CommandFailed(HeatconvError):
    """The command did not reach what was asked for."""


class _Shell(Protocol):
    client: Client


def client_of(command: Command) -> Client:
    """Return the client of the program that a command runs in."""
    return cast("_Shell", command.app).client


def style_of(state: str) -> str:
    """Return the colour of a status, or of an action and a status."""
    if state.startswith("INIT"):
        return "dim"  # never touched: neither done nor under way
    return next((style for status, style in STYLES.items() if state.endswith(status)), "dim")


class Data(FormattableColumn[Any]):
    """A list, a map or nothing: data to machines, indented JSON or a blank to humans."""

    def human_readable(self) -> str:
        """Return the value as JSON text."""
        return "" if self._value is None else json.dumps(self._value, indent=2, ensure_ascii=False)

    def machine_readable(self) -> Any:
        """Return the value."""
        return self._value


def cell(value: Any) -> Any:
    """Return a value as a table can show it."""
    return Data(value) if isinstance(value, dict | list | None) else value


def row(columns: Iterable[str], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the values of some columns."""
    return tuple(cell(values.get(column)) for column in columns)


def table(columns: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, ...], Any]:
    """Return what a lister shows."""
    return columns, [row(columns, values) for values in rows]


class Document(ShowOne):
    """Something to read or to keep rather than a table: YAML, unless another format is asked for."""

    @property
    def formatter_default(self) -> str:
        """Return the name of the format."""
        return "yaml"


def document(found: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Return what a command shows that shows all it got."""
    return tuple(found), row(found, found)


def take_stack(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a stack."""
    parser.add_argument("stack", metavar="STACK", help="name or id of the stack")


def take_resource(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name a resource of a stack."""
    take_stack(parser)
    parser.add_argument("resource", metavar="RESOURCE", help="name of the resource")


def take_nested_depth(parser: argparse.ArgumentParser) -> None:
    """Add the argument for looking into nested stacks."""
    parser.add_argument(
        "-n", "--nested-depth", metavar="N", type=int, help="those of nested stacks, too, so many levels deep"
    )


def opened(name: str) -> TextIO:
    """Return a file to be written.

    Raises:
        CommandFailed: it cannot be.
    """
    try:
        return Path(name).open("w", encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{name} cannot be written: {error.strerror}.") from error


def pair(text: str) -> tuple[str, str]:
    """Return a ``name=value`` argument as a pair."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME=VALUE")
    return name, value


def json_object(text: str) -> dict[str, Any]:
    """Return an argument that is a JSON object."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not JSON: {error.msg}") from error
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"'{text}' is not a JSON object, such as {{}}")
    return value


def seconds(text: str) -> float:
    """Return an argument that is a number of seconds above zero."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds between 0 and 3600")
    return value
