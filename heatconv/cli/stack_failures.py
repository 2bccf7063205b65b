# SPDX-License-Identifier: Apache-2.0
"""``stack failures list``: which resources, however deeply nested, made a stack fail."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from cliff.lister import Lister

from heatconv.cli.base import client_of, table, take_stack
from heatconv.client.http import Client, ClientError, Json

_LISTED = ("path", "resource_type", "physical_resource_id", "resource_status", "resource_status_reason")
_SAID = ("deploy_stdout", "deploy_stderr")
_DEPLOYMENTS = ("OS::Heat::SoftwareDeployment", "OS::Heat::StructuredDeployment")


class List(Lister):
    """List the resources that failed: of nested stacks, those inside rather than the stack."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them; what the servers said, if software was to be deployed."""
        client = client_of(self)
        found = [failure | _said(client, failure) for failure in failures(client, args.stack)]
        any_said = any(column in failure for failure in found for column in _SAID)
        return table((*_LISTED, *_SAID) if any_said else _LISTED, found)


def failures(client: Client, stack: str, above: str = "") -> Iterator[Json]:
    """Yield the resources of a stack that failed, with ``path``: their names from the outermost stack in."""
    for resource in client.list_resources(stack, {"status": "FAILED"}):
        path = above + resource["resource_name"]
        inside = list(_inside(client, resource, path))
        yield from inside or [resource | {"path": path}]


def _inside(client: Client, resource: Json, path: str) -> Iterator[Json]:
    for link in resource["links"]:
        if link["rel"] == "nested":
            try:
                yield from failures(client, str(link["href"]).rsplit("/", 1)[1], f"{path}.")
            except ClientError as error:
                if error.status != 404:
                    raise  # else it failed before there was a stack


def _said(client: Client, failure: Json) -> Json:
    """Return what a server printed when it was to carry a deployment out."""
    if failure["resource_type"] not in _DEPLOYMENTS or not failure["physical_resource_id"]:
        return {}
    try:
        deployment = client.show_software_deployment(failure["physical_resource_id"])
    except ClientError as error:
        if error.status != 404:
            raise
        return {}
    outputs = deployment["output_values"] or {}
    return {name: outputs[name] for name in _SAID if name in outputs}
