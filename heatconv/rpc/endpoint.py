# SPDX-License-Identifier: Apache-2.0
"""What makes a method of a contract a call: its signature is what both sides keep to."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from heatconv.rpc import versions
from heatconv.rpc.context import RequestContext

_MARK = "_endpoint"

P = ParamSpec("P")
R = TypeVar("R")


class Caller(Protocol):
    """Something that carries a call to an engine and brings its answer back."""

    def call(self, context: RequestContext, method: str, **arguments: Any) -> Any:
        """Call a method of some engine.

        Raises:
            UserError: what the engine refused, as it raised it.
            TransportError: no engine answered in time.
        """


class Client:
    """What a contract derives from: its endpoints are calls that a caller carries."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller


@dataclass(frozen=True)
class Endpoint:
    """What can be called."""

    name: str
    reads: bool  #: it changes nothing that anybody could want changed once only
    parameters: Mapping[str, inspect.Parameter]  #: but the context, in their order
    since: Mapping[str, str]  #: the version that has a parameter, or "": the endpoint itself; if not ``BASE``

    def version(self, sent: Iterable[str]) -> str:
        """Return the oldest version that has all that a call says, by the names of what is sent."""
        return versions.newest([self.since.get(name, versions.BASE) for name in ("", *sent)])


_Declared = Callable[Concatenate[Any, RequestContext, P], R]


def endpoint(
    *, reads: bool = False, since: Mapping[str, str] | None = None
) -> Callable[[_Declared[P, R]], _Declared[P, R]]:
    """Make a method without a body a call of the endpoint of its name.

    What an argument's default says already is not sent, so that a call that asks for nothing
    new is understood by the version before, which does not know the argument.

    Args:
        reads: the call changes nothing that anybody could want changed once only: what it looks
            at, or has looked at, may be looked at again.
        since: the version of ``heatconv.rpc.versions`` that brought a parameter, by its name, or, by "",
            the endpoint; of what ``BASE`` has nothing is said.
    """

    def declare(method: _Declared[P, R]) -> _Declared[P, R]:
        signature = inspect.signature(method)
        _self, _context, *parameters = signature.parameters.values()
        declared = Endpoint(method.__name__, reads, {each.name: each for each in parameters}, since or {})

        @functools.wraps(method)
        def call(client: Any, context: RequestContext, /, *args: P.args, **kwargs: P.kwargs) -> R:
            bound = signature.bind(client, context, *args, **kwargs).arguments
            sent = {
                name: bound[name]
                for name, parameter in declared.parameters.items()
                if name in bound and bound[name] != parameter.default
            }
            answer: R = client._caller.call(context, declared.name, **sent)  # noqa: SLF001 - Client's
            return answer

        setattr(call, _MARK, declared)
        return cast("_Declared[P, R]", call)

    return declare


def endpoints_of(contract: type[Client]) -> Iterator[Endpoint]:
    """Return what a contract declares, in its order."""
    return (getattr(each, _MARK) for each in vars(contract).values() if hasattr(each, _MARK))
