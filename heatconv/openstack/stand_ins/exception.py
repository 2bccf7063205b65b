# SPDX-License-Identifier: Apache-2.0
"""``heat.common.exception``: ours, and what besides only the plugins of a cloud raise or catch."""

from __future__ import annotations

from heatconv.resources.exception import *  # noqa: F403 - it is that module, and a little more
from heatconv.resources.exception import HeatException


class AuthorizationFailure(HeatException):
    """Keystone does not let somebody in."""

    msg_fmt = "The cloud did not accept the login. %(failure_reason)s"

    def __init__(self, failure_reason: str = "") -> None:
        super().__init__(failure_reason=failure_reason)


class MissingCredentialError(HeatException):
    """Something that a login takes was not given."""

    msg_fmt = "To log in takes %(required)s, which is not there."


class Invalid(HeatException):
    """What was given is not valid."""

    msg_fmt = "It is not valid: %(reason)s"


class InvalidServiceVersion(HeatException):
    """A service has no such version."""

    msg_fmt = "The service %(service)s has no version %(version)s."


class InterfaceAttachFailed(HeatException):
    """A server did not get a port."""

    msg_fmt = "Port %(port)s could not be attached to server %(server)s."


class InterfaceDetachFailed(HeatException):
    """A server did not let go of a port."""

    msg_fmt = "Port %(port)s could not be detached from server %(server)s."


class KeystoneServiceNameConflict(HeatException):
    """A name fits more than one service."""

    msg_fmt = "Keystone has more than one service named %(service)s; use its id instead."


class UnableToAutoAllocateNetwork(HeatException):
    """Neutron cannot make a network for a project by itself."""

    msg_fmt = "No network could be allocated: %(message)s"
