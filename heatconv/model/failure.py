# SPDX-License-Identifier: Apache-2.0
"""Why a stack failed, in one sentence: the action, the kind of error, the path of the resource, the words."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class ResourceFailure:
    """Why a resource failed; its text is the reason that is shown with the resource."""

    kind: str  #: the class of the error, as ``ValueError``
    path: str  #: the way to the resource from the stack that tells it, as ``resources.outer.resources.inner``
    words: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.path}: {self.words}"

    def inside(self, name: str) -> ResourceFailure:
        """Return the failure as the stack around tells it, which owns the failed stack by a resource."""
        return replace(self, path=f"resources.{name}.{self.path}")


def stack_reason(action: str, reason: str) -> str:
    """Return why a stack failed: the action on a resource of it, and the reason of that resource."""
    return f"Resource {action} failed: {reason}"


def failed_resource(reason: str) -> ResourceFailure | None:
    """Return the failure that the reason of a stack tells; None if the reason tells no single resource."""
    head, _, detail = reason.partition(" failed: ")
    kind, _, rest = detail.partition(": ")
    path, found, words = rest.partition(": ")
    if not (found and head.startswith("Resource ") and kind.isidentifier() and path.startswith("resources.")):
        return None
    return ResourceFailure(kind=kind, path=path, words=words)
