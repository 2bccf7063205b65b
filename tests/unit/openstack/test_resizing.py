# SPDX-License-Identifier: Apache-2.0
"""A server is asked to resize once, and to confirm that once, whoever asks again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from heatconv.openstack.mended.resizing import goes_by_what_it_finds


class Nova:
    """As much of the plugin of Nova's client as a resize takes."""

    def __init__(self, status):
        self.server = SimpleNamespace(status=status)
        self.asked = []

    def fetch_server(self, _server_id):
        return self.server

    def get_status(self, server):
        return server.status

    def resize(self, _server_id, flavor):
        self.asked.append(flavor)
        return True

    def verify_resize(self, _server_id):
        self.asked.append("confirm")
        return True


@pytest.fixture
def nova():
    """Return a function that makes a mended plugin, of whose server Nova tells a status."""
    mended = type("Mended", (Nova,), {})
    goes_by_what_it_finds(mended)
    return mended


@pytest.mark.parametrize(
    ("status", "asked"),
    [("ACTIVE", ["large"]), ("RESIZE", []), ("VERIFY_RESIZE", []), ("SHUTOFF", ["large"])],
)
def test_a_resize_that_is_under_way_is_not_asked_for_again(nova, status, asked):
    plugin = nova(status)
    assert plugin.resize("it", "large") is True
    assert plugin.asked == asked


@pytest.mark.parametrize(("status", "asked"), [("VERIFY_RESIZE", ["confirm"]), ("ACTIVE", [])])
def test_a_resize_that_is_confirmed_is_not_confirmed_again(nova, status, asked):
    plugin = nova(status)
    assert plugin.verify_resize("it") is True
    assert plugin.asked == asked


class Refused(Exception):
    """What Nova says while a resize is being confirmed already."""

    def __init__(self, code):
        super().__init__("Instance has not been resized.")
        self.code = code


@pytest.mark.parametrize(
    ("code", "afterwards", "is_over"),
    [
        (400, "VERIFY_RESIZE", True),  # another confirmation is under way
        (400, "ACTIVE", True),
        (None, "ACTIVE", True),  # it was carried out between Heat's looks and ours
        (400, "ERROR", False),
        (409, "VERIFY_RESIZE", False),  # what passes is tried again
    ],
)
def test_a_confirmation_that_another_has_overtaken_is_no_error(code, afterwards, is_over):
    class Overtaken(Nova):
        def verify_resize(self, _server_id):
            self.server.status = afterwards
            raise Refused(code)

    goes_by_what_it_finds(Overtaken)
    plugin = Overtaken("VERIFY_RESIZE")
    if is_over:
        assert plugin.verify_resize("it") is True
    else:
        with pytest.raises(Refused):
            plugin.verify_resize("it")
