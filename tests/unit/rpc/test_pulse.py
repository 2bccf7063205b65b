# SPDX-License-Identifier: Apache-2.0
"""Which of the calls that a server has are awaited."""

from __future__ import annotations

import pytest

from heatconv.rpc.asked import Asked
from heatconv.rpc.pulse import Pulse


class Call:
    """A call as oslo.messaging has it."""

    client_timeout = 1

    def __init__(self, request, number, msg_id="a"):
        self.msg_id = msg_id
        self.ctxt = {"project_id": "mine"} if request is None else Asked(request, 0.0, number).added_to({})

    def heartbeat(self):
        pass


@pytest.fixture
def pulse():
    pulse = Pulse()
    yield pulse
    pulse.stop()


def test_who_has_asked_again_waits_for_the_later_answer_only(pulse):
    first, second, other = Call("x", 1), Call("x", 2), Call("y", 1)
    pulse.begin(first)
    assert not pulse.is_in_vain(first)
    pulse.begin(second)
    pulse.begin(other)

    assert [pulse.is_in_vain(each) for each in (first, second, other)] == [True, False, False]

    pulse.end(second)
    assert not pulse.is_in_vain(first)  # nothing is kept of what was answered
    pulse.end(first)


@pytest.mark.parametrize("call", [Call(None, 0), Call(None, 0, msg_id=None)])
def test_what_has_no_number_is_never_in_vain(pulse, call):
    pulse.begin(call)
    pulse.begin(Call("x", 2))

    assert not pulse.is_in_vain(call)
    pulse.end(call)
