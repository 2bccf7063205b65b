# SPDX-License-Identifier: Apache-2.0
"""The arguments that describe a stack, and the request they make."""

from __future__ import annotations

import argparse
import json

from heatconv.cli.base import pair, seconds
from heatconv.client import source
from heatconv.client.http import Json
from heatconv.model.drift import Mode

#: The name of the environment that the options for hooks make.
_HOOKS = "hooks-of-the-command-line.json"


def add_source(
    parser: argparse.ArgumentParser, *, template: bool = True, template_required: bool = True
) -> None:
    """Add the arguments for template, environments and parameters."""
    if template:
        parser.add_argument(
            "-t", "--template", metavar="FILE", required=template_required, help="template, a file or a URL"
        )
    else:
        parser.set_defaults(template=None)
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
    parser.add_argument(
        "--parameter-file",
        metavar="NAME=FILE",
        type=pair,
        action="append",
        default=[],
        help="file, or URL, that has the value of a parameter (may be repeated)",
    )


def add_hook(parser: argparse.ArgumentParser, hook: str) -> None:
    """Add the argument for resources to be held up at a hook."""
    parser.add_argument(
        f"--{hook}",
        dest="held",
        metavar="RESOURCE",
        action="append",
        default=[],
        help="wait for 'stack hook clear' before this resource, which is told as NESTED/.../NAME, and may "
        "have * in it (may be repeated)",
    )
    parser.set_defaults(hook=hook)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for what is to be known of a stack beside its template."""
    parser.add_argument("--timeout", metavar="MINUTES", type=int, help="time the action may take")
    parser.add_argument("--tags", metavar="TAG,...", help="tags, with commas between them")
    parser.add_argument(
        "--convergence",
        metavar="POLICY",
        choices=tuple(Mode),
        help="what is done about drift: off, detect (tell of it) or heal (put it right)",
    )
    parser.add_argument(
        "--convergence-interval", metavar="SECONDS", type=int, help="time in which all is looked at once"
    )
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


def add_existing(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for an update that keeps what is not given."""
    parser.add_argument("--existing", action="store_true", help="keep what is not given as it is")
    parser.add_argument(
        "--clear-parameter",
        metavar="NAME",
        action="append",
        help="with --existing: forget the value of a parameter (may be repeated)",
    )


def add_wait(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for waiting."""
    parser.add_argument("--wait", action="store_true", help="wait for the end, showing progress")
    parser.add_argument(
        "--poll",
        metavar="SECONDS",
        type=seconds,
        default=1.0,
        help="time between two looks at a service that cannot wait for events itself (default: 1)",
    )


def source_body(args: argparse.Namespace) -> Json:
    """Return the part of a request's body that ``add_source`` asks for."""
    parameters = {name: source.read(place) for name, place in args.parameter_file}
    found = source.collect(args.template, args.environment)
    return found | {"parameters": parameters | dict(args.parameter)}


def body(args: argparse.Namespace) -> Json:
    """Return a request's body."""
    options: Json = {
        "timeout_mins": args.timeout,
        "disable_rollback": args.disable_rollback,
        "tags": args.tags,
    }
    convergence = {"policy": args.convergence, "interval": args.convergence_interval}
    if any(convergence.values()):
        options["convergence"] = {key: value for key, value in convergence.items() if value is not None}
    found = source_body(args) | {key: value for key, value in options.items() if value is not None}
    if getattr(args, "held", None):
        # The last environment wins.
        found["files"][_HOOKS] = json.dumps(_holding(args.held, args.hook))
        found["environment_files"] = [*found.get("environment_files", ()), _HOOKS]
    return found


def update_body(args: argparse.Namespace) -> Json:
    """Return the body of an update."""
    return body(args) | ({"clear_parameters": args.clear_parameter} if args.clear_parameter else {})


def _holding(resources: list[str], hook: str) -> Json:
    """Return an environment that holds resources up at a hook."""
    top: Json = {}
    for path in resources:
        below = top
        for name in filter(None, path.split("/")):
            below = below.setdefault(name, {})
        below["hooks"] = hook
    return {"resource_registry": {"resources": top}}
