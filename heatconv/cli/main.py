# SPDX-License-Identifier: Apache-2.0
"""The program ``heatconv``: global options, and the client for its commands.

Commands are entry points of the group ``heatconv.cli``.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Any, TextIO

from cliff.app import App
from cliff.commandmanager import CommandManager

from heatconv.client.http import Client

DEFAULT_ENDPOINT = "http://127.0.0.1:8004/v1/default"


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
            default=os.environ.get("HEATCONV_ENDPOINT") or DEFAULT_ENDPOINT,
            help=f"where the API is, with the project (env: HEATCONV_ENDPOINT; default: {DEFAULT_ENDPOINT})",
        )
        return parser

    def initialize_app(self, _argv: list[str]) -> None:
        """Make the client."""
        self.client = Client(self.options.endpoint)

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
    finally:
        if hasattr(shell, "client"):
            shell.client.close()
