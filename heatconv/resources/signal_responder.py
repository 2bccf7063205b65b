# SPDX-License-Identifier: Apache-2.0
"""Resources that are sent signals, and what those who send them have to know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.resources import exception, stack_user
from heatconv.resources.i18n import _

#: What a way to send signals takes that is not there.
_NEEDS = {
    "HEAT_SIGNAL": "a user in Keystone",
    "TEMP_URL_SIGNAL": "an object in Swift",
    "ZAQAR_SIGNAL": "a queue in Zaqar",
}


class SignalResponder(stack_user.StackUser):
    """A resource with a URL at which it takes signals.

    Its type may have a property ``signal_transport``; CFN_SIGNAL and
    TOKEN_SIGNAL both are a POST to the signed URL, the latter by the names of
    an endpoint and its token.
    """

    SIGNAL_TRANSPORT = "signal_transport"
    SIGNAL_TRANSPORTS = (
        CFN_SIGNAL,
        TEMP_URL_SIGNAL,
        HEAT_SIGNAL,
        NO_SIGNAL,
        ZAQAR_SIGNAL,
        TOKEN_SIGNAL,
    ) = (
        "CFN_SIGNAL",
        "TEMP_URL_SIGNAL",
        "HEAT_SIGNAL",
        "NO_SIGNAL",
        "ZAQAR_SIGNAL",
        "TOKEN_SIGNAL",
    )

    def validate(self) -> Any:
        super().validate()
        transport = self.properties.get(self.SIGNAL_TRANSPORT)
        if transport in _NEEDS:
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties", self.SIGNAL_TRANSPORT],
                message=_("%(transport)s needs %(what)s, which is not supported; use CFN_SIGNAL.")
                % {"transport": transport, "what": _NEEDS[transport]},
            )

    def _get_signal(self) -> Mapping[str, str]:
        """Return what whoever sends a signal has to know."""
        match self.properties.get(self.SIGNAL_TRANSPORT):
            case self.NO_SIGNAL:
                return {}
            case self.TOKEN_SIGNAL:
                return {"endpoint": self._get_signed_url(), "token": ""}
            case _:
                return {"alarm_url": self._get_signed_url()}

    def _get_signed_url(self) -> str:
        """Return the URL that takes signals, the same one for as long as the resource is there."""
        return self.stack.signal_url(self.name)
