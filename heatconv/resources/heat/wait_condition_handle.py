# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::WaitConditionHandle: takes the signals that a wait condition waits for."""

from __future__ import annotations

import json
from typing import Any

from heatconv.resources import attributes, constraints, properties, support, wait_condition
from heatconv.resources.i18n import _

_attribute = attributes.Schema


class WaitConditionHandle(wait_condition.BaseWaitConditionHandle):
    """The place to which what was set up reports that it is ready, or that it is not.

    To send a signal, POST a map of ``status`` (SUCCESS or FAILURE), ``reason``,
    ``data`` and ``id`` to the attribute ``endpoint``, with the ``token`` in the
    header X-Auth-Token; a token that is empty is none, as the URL is signed.
    """

    support_status = support.SupportStatus(version="2014.2")
    only_here = True

    PROPERTIES = (SIGNAL_TRANSPORT,) = ("signal_transport",)
    ATTRIBUTES = (TOKEN, ENDPOINT, CURL_CLI, SIGNAL) = ("token", "endpoint", "curl_cli", "signal")

    properties_schema = {
        SIGNAL_TRANSPORT: properties.Schema(
            properties.Schema.STRING,
            _("How signals are sent."),
            default="TOKEN_SIGNAL",
            constraints=[
                constraints.AllowedValues(
                    list(wait_condition.BaseWaitConditionHandle.SIGNAL_TRANSPORTS),
                )
            ],
            support_status=support.SupportStatus(version="6.0.0"),
        ),
    }

    attributes_schema = {
        TOKEN: _attribute(
            _("The token to send with a signal; empty where the endpoint takes none."),
            cache_mode=_attribute.CACHE_NONE,
            type=_attribute.STRING,
        ),
        ENDPOINT: _attribute(
            _("The URL to POST signals to."),
            cache_mode=_attribute.CACHE_NONE,
            type=_attribute.STRING,
        ),
        CURL_CLI: _attribute(
            _("A call of curl that sends a signal, to which the signal is to be added by --data-binary."),
            cache_mode=_attribute.CACHE_NONE,
            type=_attribute.STRING,
        ),
        SIGNAL: _attribute(
            _("What it takes to send a signal, as the JSON text of a map."),
            cache_mode=_attribute.CACHE_NONE,
            type=_attribute.STRING,
        ),
    }

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        if name == self.SIGNAL:
            return json.dumps(self._get_signal())
        if self.properties[self.SIGNAL_TRANSPORT] == self.NO_SIGNAL:
            return None
        match name:
            case self.TOKEN:
                return self._get_token()
            case self.ENDPOINT:
                return self._get_endpoint()
            case self.CURL_CLI:
                token = f" -H 'X-Auth-Token: {self._get_token()}'" if self._get_token() else ""
                return f"{_CURL}{token} '{self._get_endpoint()}'"


_CURL = "curl -i -X POST -H 'Content-Type: application/json' -H 'Accept: application/json'"
