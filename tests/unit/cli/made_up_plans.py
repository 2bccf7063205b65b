# SPDX-License-Identifier: Apache-2.0
"""Plans as the service answers them, made up; each is as the published schema says."""

from __future__ import annotations

from collections import Counter
from typing import Any

from heatconv.api.schemas.plan_document import ACTIONS
from tests.plan_judge import judged

NOW = "2026-01-31T12:00:00Z"
ID = "5d0c1c9e-8f2b-4b0e-9a43-6b1f5a7f2c11"

Json = dict[str, Any]


def plan(*resources: Json, **head: Any) -> Json:
    """Return a plan of some resources, with whatever else is said of it."""
    return judged(unchecked_head(resources, **head) | {"resources": list(resources)})


def unchecked_head(resources: Any, **head: Any) -> Json:
    """Return a plan without its resources, which may be as many as one likes."""
    counts = Counter((each["action"], each["certainty"]) for each in resources)
    summary = {
        action: {certainty: counts[action, certainty] for certainty in ("certain", "possible")}
        for action in ACTIONS
    }
    more = {key: head.pop(key, default) for key, default in _SUMMARY.items()}
    return {
        "id": ID,
        "schema_version": "1.1",
        "action": "update",
        "state": "refused" if head.get("guards") else "ready",
        "refusal": None,
        "stack": {"id": "s1", "name": "web"},
        "project": "default",
        "user": None,
        "created_at": NOW,
        "expires_at": "2026-02-01T12:00:00Z",
        "under_way": None,
        "guards": [],
        "links": [{"href": f"http://localhost/v1/default/plans/{ID}", "rel": "self"}],
        **head,
        "summary": summary | more,
    }


_SUMMARY = {"untouched": 0, "seconds": None, "history": 0}


def resource(path: str, action: str = "update", *, possible: bool = False, **more: Any) -> Json:
    """Return what a plan says of a resource, told by its path with dots."""
    names = path.split(".")
    return {
        "path": names,
        "name": names[-1],
        "type": "OS::Nova::Server",
        "stack_id": "s1",
        "physical_resource_id": None if action == "create" else f"id-of-{names[-1]}",
        "action": action,
        "certainty": "possible" if possible else "certain",
        "hangs_on": [],
        "changes": [],
        "because": [],
        "replaced_because": [],
        "left_behind": None,
        "problem": None,
        "order": 0,
        "seconds": None,
        "history": 0,
        **more,
    }


def change(name: str, before: Any, after: Any, **more: Any) -> Json:
    """Return a change of a property that was made as it was wanted, and never looked at."""
    return {
        "path": f"properties.{name}",
        "before": {"desired": before, "made": before, "observed": None, "observed_at": None},
        "after": after,
        "unknown": False,
        "hidden": False,
        "equal": before == after,
        "replaces": False,
        **more,
    }
