# SPDX-License-Identifier: Apache-2.0
"""Event sinks as users of daemons meet them; and an engine that dies between sending and noting that."""

from __future__ import annotations

import json
import threading
from collections import Counter
from contextlib import closing

import pytest
import sqlalchemy as sa

from heatconv.client.http import Client, ClientError
from tests.functional.sinks.receiver import Receiver, take

SECRET = "correct horse battery staple"
SERVER = {"type": "Fake::Cloud::Server", "properties": {"value": "v"}}
NESTED = {"heat_template_version": "2021-04-16", "resources": {"Inner": SERVER}}
TEMPLATE = {"heat_template_version": "2021-04-16", "resources": {"P": {"type": "nested.yaml"}}}


def body(sinks):
    return {
        "stack_name": "web",
        "template": TEMPLATE,
        "files": {"nested.yaml": json.dumps(NESTED)},
        "environment": {"event_sinks": sinks},
    }


@pytest.mark.timeout(300)
def test_no_event_is_lost_with_an_engine_that_is_killed_after_it_sent_one(
    run_daemons, fresh_database, rabbit_url
):
    url = fresh_database("postgresql")
    with Receiver(secret=SECRET) as receiver:
        daemons = run_daemons(
            database_url=url,
            transport_url=rabbit_url,
            engines=1,
            workers=1,
            options={"event_sinks": {"webhook_allow": f"http://127.0.0.1:{receiver.port}"}},
        )
        killed = threading.Event()

        def kill(handler):
            if "Inner CREATE_COMPLETE" in receiver.tried:
                receiver.answer = take
                daemons.kill("engine-1")
                killed.set()
            handler.give(200)

        receiver.answer = kill
        with closing(Client(daemons.endpoint)) as client:
            client.create_stack(body([{"type": "webhook", "target": receiver.url, "secret": SECRET}]))
            assert killed.wait(120)
            engine = sa.create_engine(url)
            with engine.begin() as connection:  # the dead engine's turns are over
                connection.execute(sa.text("UPDATE event_sink SET due_at = due_at - interval '1 hour'"))
            engine.dispose()
            daemons.start("engine-2")
            daemons.await_up("engine-2")
            receiver.wait_for("web CREATE_COMPLETE")
            shown = client.list_events("web", {"nested_depth": 2, "limit": 100})
            receiver.wait_until(lambda: set(receiver.ids) >= {each["id"] for each in shown})
            environment = client.get_environment("web")

        received = Counter(receiver.ids)
        assert set(received) == {each["id"] for each in shown}
        assert received[receiver.ids[receiver.tried.index("Inner CREATE_COMPLETE")]] == 2
        assert environment["event_sinks"][0]["secret"] == "******"
        assert SECRET not in daemons.logs()


@pytest.mark.timeout(300)
def test_where_webhooks_may_not_go_is_told_before_anything_is_made(endpoint):
    with closing(Client(endpoint)) as client:
        for ask in (client.create_stack, client.validate):
            with pytest.raises(ClientError, match="webhook_allow") as refused:
                ask(body([{"type": "webhook", "target": "http://169.254.169.254/secret-path"}]))
            assert "secret-path" not in str(refused.value)
