# SPDX-License-Identifier: Apache-2.0
"""What daemons say of themselves is what has happened."""

from __future__ import annotations

import json
import socket
from contextlib import closing, suppress
from functools import partial

import psutil
import pytest
import requests
import sqlalchemy as sa

from heatconv.client.http import Client
from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import Template, thing
from tests.chaos.trial import Trial
from tests.functional.monitoring.scraping import Scraped, get
from tests.functional.servers.catalog import free_port
from tests.functional.servers.one_process import heatconv_all
from tests.functional.servers.processes import Process, program
from tests.functional.waiting import until

SERVER = "Fake::Cloud::Server"
THREE = Template(a=thing("a"), b=thing("b"), c=thing("c", uses=["a"]))


def scraped(daemons):
    """Return the figures of those that run."""
    names = [name for kind in ("api", "engine", "worker") for name in daemons.names(kind)]
    return Scraped(*map(daemons.monitoring_url, names))


def until_counted(daemons, number, metric, **labels):
    """Return the figures with which a metric has come to a number: it counts right after it is seen."""
    last = []

    def look():
        last.append(scraped(daemons))
        return last[-1] if last[-1].total(metric, **labels) == number else None

    return until(look, lambda: f"{metric} {labels} is {last[-1].of(metric, **labels)}, not {number}")


def database_of(daemons):
    """Return the database, where nothing stays connected."""
    return sa.create_engine(daemons.configuration["database"]["connection"], poolclass=sa.NullPool)


@pytest.fixture
def daemons(run_daemons, fresh_database, rabbit_url):
    return run_daemons(
        database_url=fresh_database("postgresql"),
        transport_url=rabbit_url,
        engines=1,
        workers=2,
        watched=True,
    )


def test_what_is_made_changed_failed_and_deleted_is_counted(daemons):
    with closing(Trial(daemons, "counted", THREE)) as trial, closing(Client(daemons.endpoint)) as client:
        trial.create()
        trial.arrive()
        trial.update(Template(a=thing("other"), b=thing("b"), c=thing("c", uses=["a"])))
        trial.arrive()
        trial.cloud.fail(FailureRule(op="create", owner="failing/*", status=500))  # once: it may pass
        trial.cloud.fail(FailureRule(op="create", owner="failing/*", status=400))
        with closing(Trial(daemons, "failing", Template(x=thing("x")))) as failing:
            failing.create()
            until(lambda: failing.state() == "CREATE_FAILED")
        client.delete_stack("counted")

        figures = until_counted(daemons, 1, "heatconv_traversals_total", action="DELETE", outcome="complete")
    assert figures.total("heatconv_traversals_total", action="CREATE", outcome="begun") == 2
    assert figures.total("heatconv_traversals_total", action="CREATE", outcome="complete") == 1
    assert figures.total("heatconv_traversals_total", action="CREATE", outcome="failed") == 1
    assert figures.total("heatconv_traversals_total", action="UPDATE", outcome="complete") == 1

    def actions(**labels):
        return figures.total("heatconv_resource_actions_total", type=SERVER, **labels)

    assert actions(action="CREATE", outcome="complete") == 3
    assert actions(action="CREATE", outcome="failed") == 1
    assert actions(action="UPDATE", outcome="complete") == 1
    assert actions(action="DELETE", outcome="complete") == 3
    assert figures.total("heatconv_resource_actions_total") == 8
    assert figures.total("heatconv_resource_action_seconds_count") == 8
    assert figures.total("heatconv_resource_errors_total", verdict="again") == 1
    assert figures.total("heatconv_resource_errors_total", verdict="failed") == 1
    assert figures.total("heatconv_takeovers_total") == 0

    claimed = sum(
        figures.total("heatconv_claims_total", outcome=outcome) for outcome in ("claimed", "following")
    )
    assert figures.total("heatconv_claim_wait_seconds_count") == claimed >= 8
    stacks = "/v1/{project}/stacks"
    assert figures.total("heatconv_api_requests_total", method="POST", route=stacks, status="2xx") == 2
    assert figures.total("heatconv_api_request_seconds_count", method="POST", route=stacks) == 2
    assert figures.total("heatconv_engine_calls_total", method="create_stack", outcome="answered") == 2
    assert figures.total("heatconv_bus_requests_total", method="create_stack", outcome="done") == 2
    assert figures.total("heatconv_database_group_size_count") > 0
    assert figures.total("heatconv_database_connections_opened_total") > 0
    assert figures.total("heatconv_database_transactions_total", outcome="error") == 0


def test_no_label_has_what_a_user_has_said(daemons):
    """Not even a type: a template may be one, of any name."""
    own = "type-of-a-user.yaml"
    nested = {"heat_template_version": "2018-08-31", "resources": {"secret-name": {"type": "OS::Heat::None"}}}
    body = {
        "stack_name": "name-of-a-stack",
        "template": {
            "heat_template_version": "2018-08-31",
            "resources": {"name-of-a-resource": {"type": own}, "n": {"type": "OS::Heat::None"}},
        },
        "files": {own: json.dumps(nested)},
    }
    with closing(Client(daemons.endpoint)) as client:
        stack_id = client.create_stack(body)
        client.list_stacks({"name": "name-of-a-stack"})
        figures = until_counted(daemons, 2, "heatconv_traversals_total", action="CREATE", outcome="complete")

    assert figures.values("heatconv_resource_actions_total", "type") == {"OS::Heat::None", "other"}
    for said in ("-of-a-", "secret-name", stack_id, "default"):
        assert said not in figures.text


def test_a_worker_that_dies_is_seen_and_so_is_what_is_taken_over(daemons):
    with closing(Trial(daemons, "taken", Template(a=thing("a"), b=thing("b")))) as trial:
        trial.cloud.hold_after(0)
        trial.create()
        assert trial.cloud.wait_for(2, timeout=60)
        figures = until_counted(daemons, 2, "heatconv_daemons", binary="heatconv-worker", alive="yes")
        with database_of(daemons).connect() as connection:
            holders = set(connection.scalars(sa.text("SELECT engine_id FROM resource")))
        victim = next(name for name in daemons.names("worker") if daemons.engine_id(name) in holders)
        dead, held = daemons.engine_id(victim), 2 if len(holders) == 1 else 1
        until(lambda: scraped(daemons).total("heatconv_longest_action_seconds") > 0)
        assert figures.total("heatconv_worker_busy_threads") >= 2

        daemons.kill(victim)

        until_counted(daemons, 1, "heatconv_daemons", binary="heatconv-worker", alive="no")
        until_counted(daemons, 1, "heatconv_daemons", binary="heatconv-worker", alive="yes")
        until(lambda: scraped(daemons).total("heatconv_takeovers_total") >= held)
        trial.cloud.release()
        trial.arrive()
        events = trial.client.list_events("taken", {})
        figures = until_counted(daemons, 1, "heatconv_traversals_total", action="CREATE", outcome="complete")

    # A worker that a busy machine has kept from its heartbeat is taken over from as well, and counted.
    reasons = [each["resource_status_reason"] for each in events]
    assert sum(f"taken over from worker {dead}" in reason for reason in reasons) == held
    until_counted(
        daemons, sum("taken over from worker" in reason for reason in reasons), "heatconv_takeovers_total"
    )
    assert figures.total("heatconv_resource_actions_total", action="CREATE", outcome="complete") == 2
    until_counted(daemons, 0, "heatconv_longest_action_seconds")


def test_who_is_ready_and_who_is_not(daemons):
    names = ["api", "engine-1", "worker-1", "worker-2"]
    for name in names:
        assert get(f"{daemons.monitoring_url(name)}/healthcheck").text == "OK\n"
        answer = until(partial(ready, daemons.monitoring_url(name)))
        assert set(answer.json().values()) == {"ok"}

    # As if these daemons had been upgraded before the database was.
    database = database_of(daemons)
    with database.begin() as connection:
        newest = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0001'"))
    answer = get(f"{daemons.monitoring_url('worker-1')}/readiness")
    assert (answer.status_code, answer.json()["bus"]) == (503, "ok")
    assert "db_sync" in answer.json()["database"]
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :newest"), {"newest": newest})
    assert ready(daemons.monitoring_url("worker-1"))

    daemons.kill("engine-1")
    answer = get(f"{daemons.monitoring_url('api')}/readiness")
    assert (answer.status_code, list(answer.json())) == (503, ["bus"])
    assert get(f"{daemons.monitoring_url('api')}/healthcheck").status_code == 200


def ready(url):
    """Return the answer of a daemon that is ready, None of one that is not, or not there yet."""
    try:
        answer = get(f"{url}/readiness")
    except requests.ConnectionError:
        return None
    return answer if answer.status_code == 200 else None


@pytest.mark.timeout(300)
def test_each_process_of_a_daemon_has_its_port_and_so_has_who_takes_its_place(
    run_daemons, fresh_database, rabbit_url, tmp_path
):
    daemons = run_daemons(
        database_url=fresh_database("postgresql"), transport_url=rabbit_url, engines=1, workers=0
    )
    port = two_ports()
    urls = [f"http://127.0.0.1:{port + number}" for number in (0, 1)]
    command = [program("heatconv-worker"), "--config-file", str(daemons.config_file), "--workers", "2"]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as service_manager:
        service_manager.bind(str(tmp_path / "notify"))
        service_manager.settimeout(60)
        environment = {
            "OS_METRICS__LISTEN": f"127.0.0.1:{port}",
            "NOTIFY_SOCKET": str(tmp_path / "notify"),
            "WATCHDOG_USEC": "60000000",
        }
        family = Process(command, tmp_path / "family.log", environment)
        try:
            said = {service_manager.recv(100) for _ in range(3)}
            assert said == {b"WATCHDOG=1", b"READY=1"}
            began = [Scraped(url).of("process_start_time_seconds") for url in urls]
            victim, _other = psutil.Process(family.pid).children()

            victim.kill()

            assert service_manager.recv(100) in (b"READY=1", b"WATCHDOG=1")
            family.wait_for(rf"process {victim.pid} ended")
            for url in urls:
                until(partial(ready, url))
            began_now = [Scraped(url).of("process_start_time_seconds") for url in urls]
            assert sorted(before == now for before, now in zip(began, began_now, strict=True)) == [
                False,
                True,
            ]
        finally:
            assert family.stop(patience=60) == 0
        # To its children it means nothing: systemd would take the end of one for the service's.
        assert queued(service_manager).count(b"STOPPING=1") == 1


def queued(receiver):
    """Return what was sent and has not been received."""
    receiver.setblocking(False)
    found = []
    with suppress(BlockingIOError):
        while True:
            found.append(receiver.recv(100))
    return found


def two_ports():
    """Return a port that nobody listens at, nor at the next."""
    while True:
        port = free_port()
        try:
            with socket.create_server(("127.0.0.1", port + 1)):
                return port
        except OSError:
            continue


def test_all_in_one_process_says_what_all_of_them_do(tmp_path, cloud_url):
    listen = f"127.0.0.1:{free_port()}"
    (tmp_path / "heatconv.conf").write_text(f"[metrics]\nlisten = {listen}\n")
    with heatconv_all(tmp_path, cloud_url, "--config-file", str(tmp_path / "heatconv.conf")) as endpoint:
        with closing(Client(endpoint)) as client:
            client.create_stack({"stack_name": "one", "template": THREE.hot()})
            done = {"type": SERVER, "action": "CREATE", "outcome": "complete"}
            until(lambda: Scraped(f"http://{listen}").total("heatconv_resource_actions_total", **done) == 3)
        figures = Scraped(f"http://{listen}")
        assert ready(f"http://{listen}").json() == {"database": "ok", "bus": "ok"}

    assert figures.total("heatconv_api_requests_total", method="POST", status="2xx") == 1
    assert figures.total("heatconv_traversals_total", action="CREATE", outcome="begun") == 1
