# SPDX-License-Identifier: Apache-2.0
"""Heat's exceptions by the names plugins raise and catch.

Those for which ``heatconv.errors`` has a word are that error first, so that the
worker, the engine and the bus need not know this module.  A plugin's own exception may
set ``msg_fmt`` and pass the fields by keyword, as in Heat.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from heatconv import errors


class HeatException(errors.ResourceError):
    """Something went wrong with a resource.

    ``msg_fmt`` is filled in from the keyword arguments; fields it names and
    that are missing leave the text as it is rather than hide the error.
    """

    msg_fmt: ClassVar[str] = "An unknown exception occurred."

    def __init__(self, **kwargs: Any) -> None:
        try:
            message = self.msg_fmt % kwargs
        except (KeyError, TypeError, ValueError):
            message = self.msg_fmt
        super().__init__(message, **kwargs)

    @property
    def message(self) -> str:
        """The text."""
        return str(self)


class Error(HeatException):
    """An error that is nothing but its text."""

    msg_fmt = "%(message)s"

    def __init__(self, msg: object) -> None:
        super().__init__(message=str(msg))


# -- what ends an action in another way than by failing it ----------------------------


class UpdateReplace(errors.NeedsReplacement):
    """The resource has to be replaced; raised by the hooks of an update.

    ``reasons`` are what those who plan are told of it; a plugin need not give any.
    """

    def __init__(self, resource_name: object = "Unknown", *, reasons: Sequence[str] = ()) -> None:
        name = str(getattr(resource_name, "name", resource_name))
        super().__init__(f"Resource {name} cannot be updated in place; it has to be replaced.", name=name)
        self.reasons = tuple(reasons) or ("its type says so",)


class PollDelay(Exception):
    """Raised by a check: ask again after ``period`` seconds."""

    def __init__(self, period: float) -> None:
        super().__init__(f"Ask again in {period} s")
        self.period = period


class NoActionRequired(Exception):
    """Raised by ``handle_signal``: the signal changes nothing, no event is due."""

    def __init__(self, res_name: str = "Unknown", reason: str = "") -> None:
        super().__init__(f"Resource {res_name} needs no action: {reason}")
        self.res_name = res_name
        self.reason = reason


# -- what cannot be found, or should not be there ----------------------------------------


class NotFound(HeatException):
    """Something could not be found; the text says what."""

    msg_fmt = "%(message)s"

    def __init__(self, msg_fmt: str = "The item could not be found.", **kwargs: Any) -> None:
        super().__init__(message=msg_fmt % kwargs if kwargs else msg_fmt)


class EntityNotFound(errors.NotFound, HeatException):
    """The thing of that kind and name is not there."""

    msg_fmt = "The %(entity)s (%(name)s) could not be found."

    def __init__(self, entity: str | None = None, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(entity=entity, name=name, **kwargs)


class PhysicalResourceNameAmbiguity(HeatException):
    """A name fits more than one physical resource."""

    msg_fmt = "Multiple physical resources were found with name (%(name)s); use an id instead."


class PhysicalResourceExists(HeatException):
    """A physical resource is still there, or there already.

    Of a delete, it is asked again, as with any conflict.
    """

    http_status = 409
    msg_fmt = "The physical resource for (%(name)s) exists."


class ResourceNotAvailable(HeatException):
    """A resource exists but has no physical counterpart yet."""

    msg_fmt = "The Resource (%(resource_name)s) is not available."


class ResourceTypeUnavailable(HeatException):
    """The service behind a type cannot be used."""

    code = "ResourceTypeUnavailable"
    error_code: ClassVar[str] = "99001"
    msg_fmt = (
        "HEAT-E%(error_code)s Service %(service_name)s is not available for resource type "
        "%(resource_type)s, reason: %(reason)s"
    )

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"error_code": self.error_code} | kwargs)


class ClientNotAvailable(HeatException):
    """No client of that name is there."""

    msg_fmt = "The client (%(client_name)s) is not available."


# -- what a service answered -----------------------------------------------------------------


class ResourceInError(HeatException):
    """The service says that the resource is in error; creating it anew may help."""

    retryable = True
    msg_fmt = 'Went to status %(resource_status)s due to "%(status_reason)s"'

    def __init__(self, status_reason: str = "Unknown", **kwargs: Any) -> None:
        super().__init__(status_reason=status_reason, **kwargs)


class ResourceUnknownStatus(HeatException):
    """The service reports a status the plugin does not know."""

    msg_fmt = '%(result)s - Unknown status %(resource_status)s due to "%(status_reason)s"'

    def __init__(
        self, result: str = "Resource failed", status_reason: str = "Unknown", **kwargs: Any
    ) -> None:
        super().__init__(result=result, status_reason=status_reason, **kwargs)


class ResourceFailure(HeatException):
    """An action on a resource failed, and on which one."""

    msg_fmt = "%(exc_type)s: %(path)s: %(text)s"

    def __init__(self, exception_or_error: object, resource: Any, action: str | None = None) -> None:
        self.exc = exception_or_error if isinstance(exception_or_error, Exception) else None
        super().__init__(
            exc_type=type(exception_or_error).__name__ if self.exc else "Error",
            path=f"resources.{resource.name}" if resource is not None else "resources",
            text=str(exception_or_error),
            action=action,
        )


class UpdateInProgress(HeatException):
    """The resource is being acted on by somebody else."""

    msg_fmt = "The resource %(resource_name)s is already being updated."

    def __init__(self, resource_name: str = "Unknown") -> None:
        super().__init__(resource_name=resource_name)


class ConcurrentTransaction(HeatException):
    """Somebody else wrote first."""

    msg_fmt = "Concurrent transaction for %(action)s"


# -- what a template may not say ------------------------------------------------------------------


class StackValidationFailed(errors.Invalid, HeatException):
    """A definition is not valid; ``problems`` holds the one place and sentence."""

    names_place: ClassVar[bool] = (
        False  #: whether the sentence ends with the place: clients look for its start
    )

    def __init__(
        self,
        error: str = "",
        path: Sequence[str | int] | str | None = None,
        message: str = "",
        resource: Any = None,
    ) -> None:
        if path is None:
            path = ["resources", resource.name] if resource is not None else []
        self.error = error
        self.path: list[str | int] = [path] if isinstance(path, str) else list(path)
        self.error_message = str(message)
        where = path_text(self.path)
        text = ": ".join(str(part) for part in (error, where, message) if part)
        sentence = ": ".join(str(part) for part in (error, message) if part)
        errors.HeatconvError.__init__(self, text, problems=[(where, sentence)])


def path_text(path: Sequence[str | int]) -> str:
    """Return ``resources.r.properties.p[0].x`` for the elements of a path."""
    text = ""
    for element in path:
        if isinstance(element, int):
            text += f"[{element}]"
        else:
            text += f".{element}" if text else element
    return text


class InvalidSchemaError(HeatException):
    """A plugin's schema contradicts itself."""

    msg_fmt = "%(message)s"


class InvalidTemplateAttribute(HeatException):
    """A resource has no attribute of that name."""

    msg_fmt = "The Referenced Attribute (%(resource)s %(key)s) is incorrect."


class TemplateOutputError(HeatException):
    """An output of a nested stack has no value, for something is wrong with it."""

    msg_fmt = "Error in %(resource)s output %(attribute)s: %(message)s"


class InvalidTemplateReference(HeatException):
    """A template names a resource that it does not have."""

    msg_fmt = 'The specified reference "%(resource)s" (in %(key)s) is incorrect.'


class ResourcePropertyConflict(HeatException):
    """Properties exclude each other."""

    msg_fmt = "Cannot define the following properties at the same time: %(props)s."

    def __init__(self, *props: str, **kwargs: Any) -> None:
        super().__init__(props=", ".join(props), **kwargs)


class ResourcePropertyDependency(HeatException):
    """A property needs another one."""

    msg_fmt = "%(prop1)s cannot be specified without %(prop2)s."


class ResourcePropertyValueDependency(HeatException):
    """A property needs another one to have a certain value."""

    msg_fmt = "%(prop1)s property should only be specified for %(prop2)s with value %(value)s."


class PropertyUnspecifiedError(HeatException):
    """One of several properties has to be given."""

    msg_fmt = "At least one of the following properties must be specified: %(props)s."

    def __init__(self, *props: str, **kwargs: Any) -> None:
        super().__init__(props=", ".join(props), **kwargs)


class NotSupported(errors.NotSupported, HeatException):
    """A feature is not there."""

    msg_fmt = "%(feature)s is not supported."


class ResourceActionNotSupported(errors.NotSupported, HeatException):
    """A type cannot do that."""

    msg_fmt = "%(action)s is not supported for resource."


class ResourceActionRestricted(HeatException):
    """The environment forbids an action on a resource."""

    msg_fmt = "%(action)s is restricted for resource."


class Forbidden(errors.Forbidden, HeatException):
    """The caller may not do that."""

    msg_fmt = "You are not authorized to use %(action)s."

    def __init__(self, action: str = "this action", **kwargs: Any) -> None:
        super().__init__(action=action, **kwargs)
