# SPDX-License-Identifier: Apache-2.0
"""Every error heatconv raises, on one screen.

Users see the ``UserError`` branch only: one sentence that says what is wrong,
where, and what to do.  ``ConcurrencyError`` never leaves the process that met
it.  ``code`` is the stable name an API answer carries; it is Heat's name where
Heat has one, since clients match on it.  Catch by class, never by text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar


class HeatconvError(Exception):
    """An error of heatconv; the docstring of a class is its default text.

    ``{field}`` in a docstring is filled in from the keyword arguments, which
    stay readable as attributes.  ``kwargs`` lets the bus rebuild the error on
    the other side.
    """

    code: ClassVar[str] = "Error"

    def __init__(self, message: str | None = None, /, **fields: Any) -> None:
        if message is None:
            message = (type(self).__doc__ or type(self).__name__).split("\n\n")[0].format(**fields)
        super().__init__(message)
        self.kwargs = fields
        self.__dict__.update(fields)


# -- what a user did, or asked for, that cannot be ---------------------------------


class UserError(HeatconvError):
    """The request cannot be carried out."""


class NotFound(UserError):
    """The {entity} ({name}) could not be found."""

    code = "EntityNotFound"
    entity: str
    name: str


class Conflict(UserError):
    """The request conflicts with what is there."""

    code = "Conflict"


class StackExists(Conflict):
    """The Stack ({name}) already exists."""

    code = "StackExists"
    name: str


class ActionInProgress(Conflict):
    """Stack {name} already has an action ({action}) in progress."""

    code = "ActionInProgress"
    name: str
    action: str


class ResourceLocked(Conflict):
    """Resource {name} is being acted on: try again when that is done."""


class PlanStale(Conflict):
    """The plan cannot be applied any more: {reason}"""

    code = "PlanStale"
    reason: str


class GuardBroken(Conflict):
    """A guard does not let this happen: {reason}"""

    code = "GuardBroken"
    reason: str
    #: of the resources that it is about, where it is raised; the bus does not carry them
    row_ids: frozenset[str] = frozenset()


class Forbidden(UserError):
    """You are not authorized to complete this action."""

    code = "Forbidden"


class NotSupported(UserError):
    """{feature} is not supported."""

    code = "NotSupported"
    feature: str


class BadRequest(UserError):
    """The request is malformed."""

    code = "HTTPBadRequest"


class RequestLimitExceeded(UserError):
    """Request limit exceeded."""

    code = "RequestLimitExceeded"


class Invalid(UserError):
    """The template is not valid.

    ``problems`` holds every mistake found, each a ``(path, sentence)`` pair
    (lists once they have crossed the bus); ``path`` is the place in the
    template, such as ``resources.server.properties.flavor``.
    """

    code = "StackValidationFailed"
    problems: Sequence[tuple[str, str]]

    def __init__(self, message: str | None = None, *, problems: Sequence[tuple[str, str]] = ()) -> None:
        if message is None:
            message = "\n".join(f"{path}: {text}" if path else text for path, text in problems)
        super().__init__(message, problems=problems)


class TypeUnavailable(Invalid):
    """The template has a resource type whose service is not there."""

    code = "ResourceTypeUnavailable"


class ImmutableParameters(UserError):
    """The following parameters are immutable and may not be updated: {names}"""

    code = "ImmutableParameterModified"
    names: str


# -- what another process did first ------------------------------------------------


class ConcurrencyError(HeatconvError):
    """Another process was faster."""


class StaleWrite(ConcurrencyError):
    """The {entity} changed since it was read.

    Whoever catches it reads again and decides again.
    """

    entity: str


class ResourceBusy(ConcurrencyError):
    """Resource {resource_id} is locked by {engine_id}."""

    resource_id: str
    engine_id: str


class Superseded(ConcurrencyError):
    """Traversal {traversal_id} is not the current one any more."""

    traversal_id: str


# -- what the real world answered ----------------------------------------------------


class ResourceError(HeatconvError):
    """An action on a resource did not succeed."""

    retryable: ClassVar[bool] = False


class ActionFailed(ResourceError):
    """{reason}"""

    reason: str


class PhysicalResourceGone(ResourceError):
    """{name} does not exist any more."""

    name: str


class NeedsReplacement(ResourceError):
    """Resource {name} cannot be updated in place; it has to be replaced."""

    name: str


class StorageError(HeatconvError):
    """The database did not carry out a transaction ({reason}); try again later."""

    code = "ServiceUnavailable"
    reason: str


class WrongKey(StorageError):
    """A value in the database is encrypted with a key that auth_encryption_old_keys lacks."""


class Unbound(StorageError):
    """A value in the database is not bound to its row: see accept_unbound_values."""


class BrokenSeal(StorageError):
    """{column} of row {row} in the database cannot be opened there: {reason}"""

    column: str
    row: str
    reason: str


class TransportError(HeatconvError):
    """The message bus did not carry the request: {reason}"""

    code = "ServiceUnavailable"
    reason: str


class NotUnderstood(TransportError):
    """A daemon that is up is of a release that does not know this: {reason}; try again after the upgrade."""


class NotDelivered(HeatconvError):
    """The event was not delivered: {reason}"""

    reason: str


class NotJudged(HeatconvError):
    """Nobody can tell at the moment whether {what} is valid, for a service did not answer: {reason}"""

    code = "ServiceUnavailable"
    http_status: ClassVar[int] = 503  #: as a service's client says it: what needs the answer waits
    what: str
    reason: str


# -- what an operator has to set right -------------------------------------------------


class NoKey(HeatconvError):
    """Set auth_encryption_key to 32 characters or more; 'heatconv-manage generate_key' makes them."""


class Misconfigured(HeatconvError):
    """{reason}"""

    reason: str


class PluginError(HeatconvError):
    """The resource plugin {plugin} does not load: {reason}"""

    plugin: str
    reason: str
