# SPDX-License-Identifier: Apache-2.0
"""The base of client plugins: how to make a service's client, and how to read its errors.

A subclass has ``_create`` and, for the resource types that use it, finders:
methods that take a name or an id and return the id, or raise
``exception.EntityNotFound``.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, ClassVar

from heatconv import errors
from heatconv.resources import exception
from heatconv.resources.clients.status import http_status


class Ignoring:
    """What lets some exceptions pass without notice, in either way that plugins ask for it.

    ``with plugin.ignore_not_found: ...``, or ``plugin.ignore_not_found(error)``
    where the error was caught already.
    """

    def __init__(self, may_pass: Callable[[Exception], bool]) -> None:
        self._may_pass = may_pass

    def __call__(self, error: Exception) -> None:
        """Raise an exception, unless it is one to be ignored."""
        if not self._may_pass(error):
            raise error

    def __enter__(self) -> None:
        """Begin to ignore."""

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> bool:
        """Tell whether an exception ends here."""
        return isinstance(error, Exception) and self._may_pass(error)


class ClientPlugin(abc.ABC):
    """A service, as one user reaches it.

    ``exceptions_module`` is what tells the service's errors from others: an
    exception class, a module whose exceptions they are, or a list of these.
    What one means is read from the HTTP status it carries; override the
    ``is_*`` of a service whose errors say it in another way.
    """

    exceptions_module: ClassVar[Any] = None
    service_types: ClassVar[Sequence[str]] = ()
    default_version: ClassVar[str | None] = None
    supported_versions: ClassVar[Sequence[str]] = ()

    def __init__(self, context: Any) -> None:
        self.context = context
        self._made: dict[str | None, Any] = {}

    @property
    def clients(self) -> Any:
        """The clients of the other services."""
        return self.context.clients

    # -- the client ----------------------------------------------------------------------

    def client(self, version: str | None = None) -> Any:
        """Return the client, made once for each version.

        Raises:
            NotSupported: the plugin knows no such version.
        """
        version = version or self.default_version
        if version not in self._made:
            if self.supported_versions and version not in self.supported_versions:
                raise exception.NotSupported(feature=f"Version {version} of {type(self).__name__}")
            self._made[version] = self._create(version=version) if version else self._create()
        return self._made[version]

    @abc.abstractmethod
    def _create(self, version: str | None = None) -> Any:
        """Make a client that acts for ``self.context``."""

    def url_for(self, service_type: str | None = None, **_ignored: Any) -> str:
        """Return where a service is, by default this one.

        Raises:
            EntityNotFound: nobody said where it is.
        """
        wanted = [service_type] if service_type else self.service_types
        for each in wanted:
            if each in self.context.endpoints:
                return str(self.context.endpoints[each])
        raise exception.EntityNotFound(entity="Endpoint", name=", ".join(wanted))

    def does_endpoint_exist(self, service_type: str, service_name: str | None = None) -> bool:
        """Tell whether it is known where a service is."""
        try:
            self.url_for(service_type=service_type)
        except exception.EntityNotFound:
            return False
        return True

    # -- its errors ----------------------------------------------------------------------

    def is_client_exception(self, ex: Exception) -> bool:
        """Tell whether an exception is one of this service's."""
        return isinstance(ex, tuple(_classes(self.exceptions_module)))

    def is_not_found(self, ex: Exception) -> bool:
        """Tell whether an exception says that something is not there."""
        return isinstance(ex, errors.NotFound) or self._has_status(ex, 404)

    def is_conflict(self, ex: Exception) -> bool:
        """Tell whether an exception says that the state of something forbids it, for now."""
        return self._has_status(ex, 409)

    def is_over_limit(self, ex: Exception) -> bool:
        """Tell whether an exception says that it would be too much."""
        return self._has_status(ex, 413)

    def _has_status(self, ex: Exception, status: int) -> bool:
        return self.is_client_exception(ex) and http_status(ex) == status

    @property
    def ignore_not_found(self) -> Ignoring:
        """What ignores that something is not there."""
        return Ignoring(self.is_not_found)

    @property
    def ignore_conflict_and_not_found(self) -> Ignoring:
        """What ignores that something is not there, or in the way."""
        return Ignoring(lambda ex: self.is_conflict(ex) or self.is_not_found(ex))


class ExtensionMixin(abc.ABC):
    """For plugins of services that say which extensions they have."""

    @abc.abstractmethod
    def _list_extensions(self) -> Sequence[str]:
        """Return the aliases of the service's extensions."""

    def has_extension(self, alias: str) -> bool:
        """Tell whether the service has an extension."""
        return alias in self._list_extensions()


def _classes(declared: Any) -> Iterator[type[Exception]]:
    """Yield the exception classes of what ``exceptions_module`` may be."""
    if isinstance(declared, list | tuple):
        for each in declared:
            yield from _classes(each)
    elif isinstance(declared, ModuleType):  # what it has imported are not its exceptions
        yield from (each for each in vars(declared).values() if _is_exception_class(each))
    elif _is_exception_class(declared):
        yield declared


def _is_exception_class(declared: Any) -> bool:
    return isinstance(declared, type) and issubclass(declared, Exception)
