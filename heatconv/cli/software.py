# SPDX-License-Identifier: Apache-2.0
"""``software config ...``, ``software deployment ...``: what is run on servers."""

from __future__ import annotations

import argparse
from typing import Any

from cliff.command import Command
from cliff.lister import Lister
from cliff.show import ShowOne

from heatconv.cli.base import client_of, document, json_object, pair, table
from heatconv.client import source

_CONFIGS = ("id", "name", "group", "creation_time")
_DEPLOYMENTS = ("id", "config_id", "server_id", "action", "status")


class ConfigList(Lister):
    """List software configs, the newest first."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take what part of them to list."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--limit", metavar="N", type=int, help="the latest N only")
        parser.add_argument("--marker", metavar="CONFIG", help="those that come after this one")
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        query = {"limit": args.limit, "marker": args.marker}
        return table(_CONFIGS, client_of(self).list_software_configs(query))


class ConfigCreate(ShowOne):
    """Store a software config."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a name and what is in it."""
        parser = super().get_parser(prog_name)
        parser.add_argument("name", metavar="NAME", help="name of the config")
        parser.add_argument("--config-file", metavar="FILE", help="what is to be run, a file or a URL")
        parser.add_argument(
            "--definition-file", metavar="FILE", help="a map of inputs, outputs and options, in YAML or JSON"
        )
        parser.add_argument(
            "--group",
            metavar="GROUP",
            default="Heat::Ungrouped",
            help="the tool on the server that knows what to do with it (default: %(default)s)",
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Store it."""
        definition = source.read_map(args.definition_file) if args.definition_file else {}
        body = {
            "name": args.name,
            "group": args.group,
            "config": source.read(args.config_file) if args.config_file else "",
            **{key: definition.get(key) for key in ("inputs", "outputs", "options")},
        }
        return document(client_of(self).create_software_config(body))


class ConfigShow(ShowOne):
    """Show a software config."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a config."""
        parser = super().get_parser(prog_name)
        parser.add_argument("config", metavar="CONFIG", help="id of the config")
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show it."""
        return document(client_of(self).show_software_config(args.config))


class ConfigDelete(Command):
    """Delete software configs that are not deployed."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take configs."""
        parser = super().get_parser(prog_name)
        parser.add_argument("config", metavar="CONFIG", nargs="+", help="id of the config")
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Delete them."""
        for config in args.config:
            client_of(self).delete_software_config(config)


class DeploymentList(Lister):
    """List software deployments, the oldest first."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a server."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--server", metavar="SERVER", help="those on the server of this id only")
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        return table(_DEPLOYMENTS, client_of(self).list_software_deployments({"server_id": args.server}))


class DeploymentCreate(ShowOne):
    """Deploy a software config on a server."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a config, a server and what the config takes."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--config", metavar="CONFIG", required=True, help="id of the config")
        parser.add_argument("--server", metavar="SERVER", required=True, help="id of the server")
        parser.add_argument(
            "--input-value",
            metavar="NAME=VALUE",
            type=pair,
            action="append",
            default=[],
            help="value of an input (may be repeated)",
        )
        parser.add_argument(
            "--action", metavar="ACTION", default="UPDATE", help="what it is for (default: %(default)s)"
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Deploy it."""
        body = {
            "config_id": args.config,
            "server_id": args.server,
            "input_values": dict(args.input_value),
            "action": args.action,
            "status": "IN_PROGRESS",
            "status_reason": "Deploy data available",
        }
        return document(client_of(self).create_software_deployment(body))


class DeploymentUpdate(ShowOne):
    """Say how a software deployment went."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a deployment and how it went."""
        parser = super().get_parser(prog_name)
        _take_deployment(parser)
        parser.add_argument("--status", choices=("IN_PROGRESS", "COMPLETE", "FAILED"), help="how it went")
        parser.add_argument("--status-reason", metavar="TEXT", help="why")
        parser.add_argument(
            "--output-values", metavar="JSON", type=json_object, help="an object of values by output name"
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Say so."""
        keys = ("status", "status_reason", "output_values")
        body = {key: getattr(args, key) for key in keys if getattr(args, key) is not None}
        return document(client_of(self).update_software_deployment(args.deployment, body))


class DeploymentShow(ShowOne):
    """Show a software deployment."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a deployment."""
        parser = super().get_parser(prog_name)
        _take_deployment(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show it."""
        return document(client_of(self).show_software_deployment(args.deployment))


class DeploymentMetadata(Lister):
    """List the software configs that a server is to have, by name."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a server."""
        parser = super().get_parser(prog_name)
        parser.add_argument("server", metavar="SERVER", help="id of the server")
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        columns = ("name", "group", "config", "inputs", "id")
        return table(columns, client_of(self).list_deployed_configs(args.server))


class DeploymentDelete(Command):
    """Delete software deployments."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take deployments."""
        parser = super().get_parser(prog_name)
        parser.add_argument("deployment", metavar="DEPLOYMENT", nargs="+", help="id of the deployment")
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Delete them."""
        for deployment in args.deployment:
            client_of(self).delete_software_deployment(deployment)


def _take_deployment(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("deployment", metavar="DEPLOYMENT", help="id of the deployment")
