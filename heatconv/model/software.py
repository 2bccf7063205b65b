# SPDX-License-Identifier: Apache-2.0
"""What is to be run on servers, and its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

#: How a run goes, beside the output values that a config declares.
STDOUT, STDERR, STATUS_CODE = OUTPUTS = ("deploy_stdout", "deploy_stderr", "deploy_status_code")


@dataclass(frozen=True, kw_only=True)
class SoftwareConfig:
    """Something that can be run, with what it takes and what it tells; never changed.

    One that a deployment made for a single run of its own is *derived*: its
    inputs have values, and it goes with the deployment.
    """

    id: str
    name: str | None = None
    group: str | None = None  #: the tool on the server that knows what to do with it
    config: Any = None  #: text, or a map
    inputs: Sequence[Mapping[str, Any]] = ()
    outputs: Sequence[Mapping[str, Any]] = ()
    options: Any = None
    run: str | None = None  #: of a derived one: the digest of what is run
    project_id: str | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class SoftwareDeployment:
    """A config on a server, and how its last run went."""

    id: str
    server_id: str | None
    config_id: str
    input_values: Any = None
    output_values: Mapping[str, Any] | None = None
    action: str | None = None
    status: str | None = None
    status_reason: str | None = None
    stack_user_project_id: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
