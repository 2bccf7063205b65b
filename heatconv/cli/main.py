# SPDX-License-Identifier: Apache-2.0
"""The program ``heatconv``: global options, and the client for its commands.

Commands are entry points of the group ``heatconv.cli``.  A program ends with 0 when
it did what it was asked to, with 1 when that was refused or did not come to a good
end, with 2 when it was called wrongly.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Sequence
from functools import cached_property
from importlib import metadata
from typing import Any, TextIO

from cliff.app import App
from cliff.commandmanager import CommandManager

from heatconv.client import login
from heatconv.client.http import Client


class Shell(App):
    """One run of the program."""

    NAME = "heatconv"
    LOG = logging.getLogger("heatconv.cli")

    def __init__(self, stdout: TextIO | None = None, stderr: TextIO | None = None) -> None:
        super().__init__(
            description="Declare infrastructure and have it converge.",
            version=metadata.version("heatconv"),
            command_manager=CommandManager("heatconv.cli"),
            stdout=stdout,
            stderr=stderr,
            deferred_help=True,
        )

    def build_option_parser(
        self, description: str | None, version: str | None, argparse_kwargs: dict[str, Any] | None = None
    ) -> argparse.ArgumentParser:
        """Add the options that every command has."""
        parser = super().build_option_parser(description, version, argparse_kwargs)
        parser.add_argument(
            "--endpoint",
            metavar="URL",
            default=os.environ.get("HEATCONV_ENDPOINT"),
            help="where the API is, with the project (env: HEATCONV_ENDPOINT; default: what the cloud's "
            f"catalog says, or {login.DEFAULT_ENDPOINT})",
        )
        parser.add_argument(
            "--os-cloud",
            metavar="NAME",
            help="the cloud of clouds.yaml to log in to (env: OS_CLOUD, or OS_AUTH_URL and the like)",
        )
        return parser

    def configure_logging(self) -> None:
        """Say once, not twice, that a cloud lets nobody in."""
        super().configure_logging()
        if not self.options.debug:
            logging.getLogger("keystoneauth").setLevel(logging.CRITICAL)

    @cached_property
    def client(self) -> Client:
        """The client of the service, made when a command first asks it something."""
        return login.connect(self.options.endpoint, self.options.os_cloud)

    def interact(self) -> None:
        """Explain the program to who runs it without a command; there is no prompt."""
        self.run_subcommand(["help"])


def main(
    argv: Sequence[str] | None = None, stdout: TextIO | None = None, stderr: TextIO | None = None
) -> int:
    """Run a command; return 0, or 1 when it failed, or 2 when it was called wrongly."""
    shell = Shell(stdout, stderr)
    try:
        return shell.run(list(sys.argv[1:] if argv is None else argv))
    except BrokenPipeError:
        # Whoever read the output has seen enough, and nothing more can be written to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    finally:
        if "client" in vars(shell):
            shell.client.close()
