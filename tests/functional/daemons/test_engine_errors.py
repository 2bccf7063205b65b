# SPDX-License-Identifier: Apache-2.0
"""An error of an engine is a matter of its log; its caller gets one line."""

from __future__ import annotations

import oslo_messaging
import pytest

from heatconv import errors
from heatconv.rpc.asking import EngineCaller
from heatconv.rpc.bus import Bus
from heatconv.rpc.context import RequestContext


class Network(Bus):
    """A bus that brings one answer to whatever is asked: what oslo.messaging makes of an engine's mistake."""

    response_timeout = 60.0

    def __init__(self):
        pass

    def client(self, _topic):
        return self

    def prepare(self, **_options):
        return self

    def call(self, _context, _method):
        raise oslo_messaging.RemoteError(
            "LookupError", "nowhere to be found", ["Traceback: ...\n", "  here\n"]
        )


def test_an_error_of_an_engines_own_comes_without_its_traceback():
    with pytest.raises(errors.TransportError) as raised:
        EngineCaller(Network()).call(RequestContext(project_id="mine"), "stumble")

    assert "nowhere to be found" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "Traceback" not in str(raised.value)
