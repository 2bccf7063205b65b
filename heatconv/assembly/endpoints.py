# SPDX-License-Identifier: Apache-2.0
"""What an engine answers to on the bus: the table of its endpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any

from heatconv import errors
from heatconv.assembly.engine import Engine
from heatconv.db.plumbing.session import Database
from heatconv.engine import once
from heatconv.engine.event_reads import EventReads
from heatconv.engine.lifecycle import Lifecycle
from heatconv.engine.preview import Preview
from heatconv.engine.reads import Reads
from heatconv.engine.requests import Requests
from heatconv.engine.resource_reads import ResourceReads
from heatconv.engine.signals import Signals
from heatconv.engine.software import Software
from heatconv.engine.types import Types
from heatconv.observer.drift_requests import DriftRequests
from heatconv.template import functions_of, versions

Method = Callable[..., Any]

#: Which methods of a part can be called from the bus, by the part's class.
_ENDPOINTS: Mapping[type, tuple[str, ...]] = {
    Requests: (
        "create_stack",
        "update_stack",
        "rollback_stack",
        "cancel_stack",
    ),
    Lifecycle: (
        "suspend_stack",
        "resume_stack",
        "check_stack",
        "export_stack",
        "abandon_stack",
        "create_snapshot",
        "list_snapshots",
        "show_snapshot",
        "delete_snapshot",
        "restore_snapshot",
        "delete_stack",
    ),
    Signals: ("signal_resource", "mark_unhealthy"),
    Reads: (
        "identify_stack",
        "show_stack",
        "list_stacks",
        "get_template",
        "get_environment",
        "get_files",
        "list_outputs",
        "show_output",
        "list_services",
    ),
    ResourceReads: ("show_graph", "list_resources", "show_resource", "get_attribute", "get_metadata"),
    EventReads: ("list_events", "show_event"),
    Software: (
        "list_software_configs",
        "create_software_config",
        "show_software_config",
        "delete_software_config",
        "list_software_deployments",
        "list_deployed_configs",
        "create_software_deployment",
        "show_software_deployment",
        "update_software_deployment",
        "delete_software_deployment",
    ),
    Types: ("list_resource_types", "show_resource_type", "make_type_template"),
    Preview: ("preview_create", "preview_update", "validate_template"),
    DriftRequests: ("observe_stack", "converge_stack", "show_drift", "note_change"),
}


def endpoints(engine: Engine, database: Database) -> dict[str, Method]:
    """Return what can be called from the bus, by name; each request is carried out once."""
    named = {
        name: once.endpoint(database, name, getattr(part, name))
        for part in vars(engine).values()
        for name in _ENDPOINTS.get(type(part), ())
    }
    own = {"prepare_rollback": lambda _context, stack_id: engine.requests.prepare_rollback(stack_id)}
    return {**named, **_asked_by_templates(), **own}


def _asked_by_templates() -> dict[str, Method]:
    """Return the endpoints that tell how things can be declared."""
    return {
        "list_template_versions": lambda _context: [
            {"version": name, "type": version.language, "aliases": aliases}
            for version in versions()
            for name, *aliases in [version.full_names]
        ],
        "list_template_functions": _template_functions,
        "get_revision": lambda _context: metadata.version("heatconv"),
    }


def _template_functions(_context: Any, version: str, with_conditions: bool) -> list[dict[str, str]]:
    if not any(version in each.full_names for each in versions()):
        raise errors.NotFound(entity="Template Version", name=version)
    listed = functions_of(version, with_conditions)
    return [{"functions": name, "description": description} for name, description in listed]
