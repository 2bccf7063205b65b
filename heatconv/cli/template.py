# SPDX-License-Identifier: Apache-2.0
"""``template validate``."""

from __future__ import annotations

import argparse
from typing import Any

from cliff.show import ShowOne

from heatconv.cli import request
from heatconv.cli.base import client_of, row


class Validate(ShowOne):
    """Say what a template takes, or what is wrong with it."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a template and environments."""
        parser = super().get_parser(prog_name)
        request.add_source(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Validate it."""
        found = client_of(self).validate(request.source_body(args))
        return tuple(found), row(found, found)
