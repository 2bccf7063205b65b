# SPDX-License-Identifier: Apache-2.0
"""Resources that are sent signals, and what those who send them have to know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.resources import exception, stack_user
from heatconv.resources.i18n import _
from heatconv.resources.stack_users import TOKEN

#: What a way to send signals takes that is not there.
_NEEDS = {
    "TEMP_URL_SIGNAL": "an object in Swift",
    "ZAQAR_SIGNAL": "a queue in Zaqar",
}


class SignalResponder(stack_user.StackUser):
    """A resource with a URL at which it takes signals.

    Its type may have a property ``signal_transport``.  CFN_SIGNAL is a POST to a
    signed URL; so is TOKEN_SIGNAL where resources have no users, by the names of an
    endpoint and an empty token.  Where they have, it is a POST with a token of the
    resource's user, and HEAT_SIGNAL a signal by who logs in as that user.
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
        needed = _NEEDS.get(transport or "")
        if transport == self.HEAT_SIGNAL and not self.has_stack_users():
            needed = _("a user in Keystone (stack_user_domain_name in the service's configuration)")
        if needed is not None:
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties", self.SIGNAL_TRANSPORT],
                message=_("%(transport)s needs %(what)s, which is not to be had here; use CFN_SIGNAL.")
                % {"transport": transport, "what": needed},
            )

    def handle_create(self) -> None:
        self._admit_sender()
        super().handle_create()

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> Any:
        self._admit_sender()
        return super().handle_adopt(resource_data)

    def _admit_sender(self) -> None:
        """Make the user that signals are sent by, if the way to send them takes one."""
        transport = self.properties.get(self.SIGNAL_TRANSPORT)
        if transport == self.HEAT_SIGNAL:
            self._create_user()
        elif transport == self.TOKEN_SIGNAL and self.has_stack_users():
            self._create_user()
            if TOKEN not in self.data():
                self.data_set(TOKEN, self._user_token(), redact=True)

    def _get_signal(self) -> Mapping[str, str | None]:
        """Return what whoever sends a signal has to know."""
        match self.properties.get(self.SIGNAL_TRANSPORT):
            case self.NO_SIGNAL:
                return {}
            case self.TOKEN_SIGNAL:
                return {"endpoint": self._get_endpoint(), "token": self._get_token()}
            case self.HEAT_SIGNAL:
                return {**self._get_heat_signal_credentials(), "alarm_url": self._get_heat_signal_url()}
            case _:
                return {"alarm_url": self._get_signed_url()}

    def _get_token(self) -> str:
        """Return the token to signal with; the text is empty where none is needed."""
        return self.data().get(TOKEN, "")

    def _get_endpoint(self) -> str:
        """Return the URL that takes signals with the token."""
        return self._get_heat_signal_url() if self._get_token() else self._get_signed_url()

    def _get_signed_url(self) -> str:
        """Return the URL that takes signals for this very resource, the same one while it is there."""
        return self.stack.signal_url(self.uuid)
