# SPDX-License-Identifier: Apache-2.0
"""Heat's clients find in heatconv what they find in Heat, and ours does: every call that each has."""

from __future__ import annotations

import pytest

from tests.functional.clients import (
    calls,
    heatclient_stories,
    heatconv_stories,
    openstackclient_stories,
    openstacksdk_stories,
)

#: What the clients have to say about themselves is no concern of ours.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")

CLIENTS = {
    "heatconv": (heatconv_stories, calls.of_heatconv),
    "python-heatclient": (heatclient_stories, calls.of_heatclient),
    "openstackclient": (openstackclient_stories, calls.of_openstackclient),
    "openstacksdk": (openstacksdk_stories, calls.of_openstacksdk),
}


@pytest.fixture
def drive(record_property, service):
    """Return a function that drives one call of a client, and notes it for the table in the end."""

    def drive(name, call, client, world):
        record_property("client", name)
        record_property("call", call)
        record_property("service", service)
        if remark := calls.story(CLIENTS[name][0], call)(client, world):
            record_property("remark", remark)

    return drive


@pytest.mark.parametrize("call", calls.of_heatconv())
def test_heatconv(call, drive, cli, world):
    drive("heatconv", call, cli, world)


@pytest.mark.parametrize("call", calls.of_heatclient())
def test_python_heatclient(call, drive, heat, world):
    drive("python-heatclient", call, heat, world)


@pytest.mark.parametrize("call", calls.of_openstacksdk())
def test_openstacksdk(call, drive, conn, world):
    drive("openstacksdk", call, conn, world)


@pytest.mark.parametrize("service", ["sqlite"], scope="session")
@pytest.mark.parametrize("call", calls.of_openstackclient())
def test_openstackclient(call, drive, osc, world):
    drive("openstackclient", call, osc, world)


@pytest.mark.parametrize("name", CLIENTS)
def test_no_story_is_about_a_call_that_is_gone(name):
    stories, of_client = CLIENTS[name]
    there, wanted = calls.driven(stories, of_client())
    assert there <= wanted
