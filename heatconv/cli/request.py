# SPDX-License-Identifier: Apache-2.0
"""The arguments that describe a stack, and the request they make."""

from __future__ import annotations

import argparse

from heatconv.cli.base import pair, seconds
from heatconv.client import source
from heatconv.client.http import Json


def add_source(parser: argparse.ArgumentParser, *, template_required: bool = True) -> None:
    """Add the arguments for template, environments and parameters."""
    parser.add_argument(
        "-t", "--template", metavar="FILE", required=template_required, help="template, a file or a URL"
    )
    parser.add_argument(
        "-e",
        "--environment",
        metavar="FILE",
        action="append",
        default=[],
        help="environment, a file or a URL; of several, the later win",
    )
    parser.add_argument(
        "--parameter",
        metavar="NAME=VALUE",
        type=pair,
        action="append",
        default=[],
        help="value of a parameter (may be repeated)",
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for what is to be known of a stack beside its template."""
    parser.add_argument("--timeout", metavar="MINUTES", type=int, help="time the action may take")
    parser.add_argument("--tags", metavar="TAG,...", help="tags, with commas between them")
    rollback = parser.add_mutually_exclusive_group()
    rollback.add_argument(
        "--enable-rollback",
        dest="disable_rollback",
        action="store_false",
        default=None,
        help="when the action fails, go back to where the stack was",
    )
    rollback.add_argument(
        "--disable-rollback",
        dest="disable_rollback",
        action="store_true",
        help="when the action fails, leave everything as it is",
    )


def add_wait(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for waiting."""
    parser.add_argument("--wait", action="store_true", help="wait for the end, showing progress")
    parser.add_argument(
        "--poll", metavar="SECONDS", type=seconds, default=1.0, help="time between two looks (default: 1)"
    )


def source_body(args: argparse.Namespace) -> Json:
    """Return the part of a request's body that ``add_source`` asks for."""
    return source.collect(args.template, args.environment) | {"parameters": dict(args.parameter)}


def body(args: argparse.Namespace) -> Json:
    """Return a request's body."""
    options = {
        "timeout_mins": args.timeout,
        "disable_rollback": args.disable_rollback,
        "tags": args.tags,
    }
    return source_body(args) | {key: value for key, value in options.items() if value is not None}
