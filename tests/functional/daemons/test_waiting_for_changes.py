# SPDX-License-Identifier: Apache-2.0
"""A client that has seen a stack, its resources or its events waits for the next change, over REST."""

from __future__ import annotations

import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
import requests

from heatconv.model.ids import new_id

MANY = 40  #: more than an API has threads
LONG = 50  #: seconds to wait that no test takes


def template(value, **properties):
    thing = {"type": "OS::Heat::TestResource", "properties": {"value": value, **properties}}
    return {"heat_template_version": "2021-04-16", "resources": {"a": thing}}


class Client:
    """A client of the API that remembers what it was answered last."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.session = requests.Session()
        self.tag = None

    def create(self, name, **properties):
        name = f"{name}-{new_id()}"
        made = self.session.post(
            f"{self.endpoint}/stacks", json={"stack_name": name, "template": template("x", **properties)}
        )
        made.raise_for_status()
        return f"{self.endpoint}/stacks/{name}/{made.json()['stack']['id']}"

    def update(self, stack, value, **properties):
        self.session.put(stack, json={"template": template(value, **properties)}).raise_for_status()

    def look(self, url, wait=LONG):
        """Return what is there, None if that is the same as before after so many seconds."""
        headers = {"If-None-Match": self.tag} if self.tag else {}
        answer = self.session.get(url, params={"wait": wait}, headers=headers, timeout=2 * LONG)
        answer.raise_for_status()
        if answer.status_code == 304:
            return None
        self.tag = answer.headers["ETag"]
        return answer.json()

    def until(self, stack, status):
        """Look until a stack has a status; return the others that were seen."""
        seen = []
        while (shown := self.look(stack)["stack"]["stack_status"]) != status:
            seen.append(shown)
        return seen


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
def service(request):
    """The endpoint of everything in one process, or of daemons that have few threads."""
    if request.param == "sqlite":
        return request.getfixturevalue("endpoint")
    start, fresh = request.getfixturevalue("run_daemons"), request.getfixturevalue("fresh_database")
    return start(
        database_url=fresh(request.param),
        transport_url=request.getfixturevalue("rabbit_url"),
        engines=1,
        workers=1,
        options={"api": {"threads": 2}},
    ).endpoint


def test_each_change_is_answered_when_it_comes(service):
    watching, changing = Client(service), Client(service)
    stack = changing.create("watched")
    watching.until(stack, "CREATE_COMPLETE")
    assert watching.look(stack, wait=1) is None

    with ThreadPoolExecutor() as pool:
        seen = pool.submit(watching.until, stack, "UPDATE_COMPLETE")
        changing.update(stack, "y")
        seen.result()

    resources, events = Client(service), Client(service)
    (row,) = resources.look(f"{stack}/resources")["resources"]
    assert row["resource_status"] == "UPDATE_COMPLETE"
    before = len(events.look(f"{stack}/events")["events"])
    with ThreadPoolExecutor() as pool:
        begun = pool.submit(resources.look, f"{stack}/resources")
        happened = pool.submit(events.look, f"{stack}/events")
        changing.update(stack, "z", action_wait_secs={"update": 3600})
        while begun.result()["resources"][0]["resource_status"] != "UPDATE_IN_PROGRESS":
            begun = pool.submit(resources.look, f"{stack}/resources")
        assert len(happened.result()["events"]) > before

    gone = Client(service)
    gone.look(stack)
    with ThreadPoolExecutor() as pool:
        last = pool.submit(gone.until, stack, "DELETE_COMPLETE")
        changing.session.delete(stack).raise_for_status()
        last.result()


def test_those_who_wait_hold_up_nobody_and_only_those_of_the_stack_are_answered(service):
    changing = Client(service)
    stacks = [changing.create(f"one-of-{number}") for number in range(4)]
    for stack in stacks:
        Client(service).until(stack, "CREATE_COMPLETE")
    with ExitStack() as until:
        pool = until.enter_context(ThreadPoolExecutor(MANY))
        clients = [Client(service) for _ in range(MANY)]
        for number, client in enumerate(clients):
            client.look(stacks[number % 4])
        waiting = [pool.submit(client.look, stacks[number % 4], 4) for number, client in enumerate(clients)]

        listed = changing.session.get(f"{service}/stacks", timeout=LONG)
        assert {row["stack_status"] for row in listed.json()["stacks"]} >= {"CREATE_COMPLETE"}
        changing.update(stacks[0], "y")
        changed = [future.result() for future in waiting[0::4]]
        assert {shown["stack"]["stack_status"] for shown in changed} <= {
            "UPDATE_IN_PROGRESS",
            "UPDATE_COMPLETE",
        }
        others = {future.result() for number, future in enumerate(waiting) if number % 4}
        assert others == {None}


def test_who_waits_hears_of_changes_though_engines_die_and_the_api_answers_before_it_ends(
    run_daemons, fresh_database, rabbit_url
):
    daemons = run_daemons(
        database_url=fresh_database("postgresql"), transport_url=rabbit_url, engines=2, workers=1
    )
    watching, changing = Client(daemons.endpoint), Client(daemons.endpoint)
    stack = changing.create("watched")
    watching.until(stack, "CREATE_COMPLETE")
    with ThreadPoolExecutor() as pool:
        seen = pool.submit(watching.until, stack, "UPDATE_COMPLETE")
        daemons.kill("engine-1")
        changing.update(stack, "y")
        seen.result()

    with ExitStack() as until:
        address = urlsplit(daemons.endpoint)
        waiting = until.enter_context(socket.create_connection((address.hostname, address.port), LONG))
        head = f"GET {urlsplit(stack).path}?wait={LONG} HTTP/1.1\r\nHost: {address.netloc}"
        waiting.sendall(f"{head}\r\nIf-None-Match: {watching.tag}\r\n\r\n".encode())
        Client(daemons.endpoint).look(stack)  # the one that was sent before is there by now
        daemons.processes["api"].send(signal.SIGTERM)
        assert waiting.recv(65536).startswith(b"HTTP/1.1 304 ")


def test_a_cursor_waits_for_the_whole_tree_and_is_answered_when_the_time_is_over(service):
    changing = Client(service)
    inner = {"type": "OS::Heat::TestResource", "properties": {"value": "x"}}
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 1, "resource_def": inner}}
    body = {"stack_name": f"tree-{new_id()}", "template": template("x")}
    body["template"]["resources"]["group"] = group
    made = changing.session.post(f"{service}/stacks", json=body).json()["stack"]
    stack = f"{service}/stacks/{body['stack_name']}/{made['id']}"

    def look(**query):
        return changing.session.get(f"{stack}/changes", params=query, timeout=2 * LONG).json()["changes"]

    changing.until(stack, "CREATE_COMPLETE")
    cursor = look()["cursor"]
    began = time.monotonic()
    quiet = look(since=cursor, wait=1)
    assert quiet["events"] == []
    assert time.monotonic() - began > 0.9

    nested = next(
        link["href"]
        for each in changing.session.get(f"{stack}/resources").json()["resources"]
        for link in each["links"]
        if link["rel"] == "nested"
    )
    with ThreadPoolExecutor(1) as apart:
        waiting = apart.submit(look, since=quiet["cursor"], wait=LONG)
        changing.session.patch(f"{nested}/resources/0", json={"mark_unhealthy": True}).raise_for_status()
        assert [each["resource_name"] for each in waiting.result()["events"]] == ["0"]
