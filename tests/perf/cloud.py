# SPDX-License-Identifier: Apache-2.0
"""What a stack of real networks and servers costs, beside a bare script: ``python -m tests.perf.cloud``.

python -m tests.perf.cloud [--networks 100] [--servers 50] [--threads 8] [--rounds 1]
    [--heat URL --heat-way PORT]

The cloud is the one that openstacksdk finds, as in tests/cloud; its user has to be an
administrator, to make a project with room for all that. A stack of so many networks,
each with a subnet and a port, and of servers, each on one of the ports, is created and
deleted: by a heatconv-all of that many threads, and by a script of openstacksdk's
calls on as many. Each goes to the services by a way that counts its calls. A Heat that
runs already does the same if it is named by its address, /v1 at its end; its own
configuration must lead it to the identity service by that way, at PORT/5000. A cloud grows
slower by what it has seen: they take turns, each round in the other order. Prints the
seconds, the calls of each kind, and how many a second were made while servers
were built; and then what heatconv took in proportion to the script, by the medians, and its memory.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openstack
import requests

from heatconv.client.http import Client
from tests.cloud.conftest import Login
from tests.cloud.counting_proxy import CountingProxy
from tests.functional.servers.processes import Process, program
from tests.perf import report

PATIENCE = 3600.0  #: seconds that anything may take
POLL = 1.0  #: seconds between two looks of the script at a server
SHOWN = ("GET nova servers", "GET nova servers/detail")  #: how servers are polled


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", type=int, default=100)
    parser.add_argument("--servers", type=int, default=50)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", choices=["script", "heatconv", "heat"])
    parser.add_argument("--heat", help="the address of a Heat that runs already")
    parser.add_argument("--heat-way", type=int, help="the port of the way that leads it to the services")
    arguments = parser.parse_args()
    if arguments.heat is not None and arguments.heat_way is None:
        parser.error("--heat needs --heat-way")
    admin = openstack.connect()
    with tempfile.TemporaryDirectory(prefix="heatconv-perf-") as directory:
        login = Login(admin, Path(directory))
        try:
            _make_room(admin, login)
            report.say({"arguments": report.given(arguments)})
            _compare(login, Path(directory), arguments)
        finally:
            login.leave()


def _compare(login: Login, directory: Path, arguments: argparse.Namespace) -> None:
    small = _smallest(login.connect())
    runs = {"script": _script, "heatconv": _heatconv}
    if arguments.heat is not None:
        runs["heat"] = _heat
    names = [name for name in runs if arguments.only in (None, name)]
    records: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(arguments.rounds):
        for name in names:
            records[name].append(runs[name](login, directory, arguments, small))
        names.reverse()
    ours = records.pop("heatconv", None)
    if ours is None:
        return
    for name, theirs in records.items():
        report.say(
            {
                operation: {
                    "beside": name,
                    "seconds_ratio": round(_ratio(ours, operation, "seconds", theirs), 2),
                    "calls_ratio": round(_ratio(ours, operation, "calls", theirs), 2),
                }
                for operation in ("create", "delete")
            }
        )


def _ratio(ours: list[dict[str, Any]], operation: str, figure: str, theirs: list[dict[str, Any]]) -> float:
    """Return the median of our rounds over that of another's."""
    mine, others = (statistics.median([each[operation][figure] for each in some]) for some in (ours, theirs))
    return float(mine / others)


def _make_room(admin: Any, login: Login) -> None:
    """Let the project have as much as it is to have."""
    project = login.project.id
    admin.set_compute_quotas(project, instances=-1, cores=-1, ram=-1)
    admin.set_network_quotas(project, networks=-1, subnets=-1, ports=-1)


def _smallest(cloud: Any) -> dict[str, str]:
    flavors = sorted(cloud.compute.flavors(), key=lambda flavor: (flavor.ram, flavor.disk))
    return {"flavor": flavors[0].id, "image": next(iter(cloud.image.images())).id}


@contextmanager
def _counted(login: Login, name: str, port: int = 0) -> Iterator[CountingProxy]:
    """Have a way that counts, to which a cloud of clouds.yaml leads."""
    way = CountingProxy(port=port)
    auth = login.auth | {"auth_url": way.leading_to(login.auth["auth_url"])}
    login.write(**{name: {"auth": auth, "region_name": login.admin.config.region_name}})
    try:
        yield way
    finally:
        way.close()


def _timed(
    who: str, operation: str, way: CountingProxy, resources: int, act: Callable[[], object]
) -> dict[str, Any]:
    """Do something; print, and return, what it took."""
    began = time.monotonic()
    act()
    seconds = time.monotonic() - began
    calls = way.counted(began)
    polls = sum(calls[each] for each in SHOWN)
    record = {
        "who": who,
        "operation": operation,
        "seconds": round(seconds, 1),
        "calls": calls.total(),
        "calls_each": round(calls.total() / resources, 2),
        "polls_a_second": round(polls / seconds, 2),
        "calls_of": dict(calls.most_common()),
    }
    report.say(record)
    return record


# -- heatconv ----------------------------------------------------------------------------------


def _heatconv(
    login: Login, directory: Path, arguments: argparse.Namespace, small: dict[str, str]
) -> dict[str, Any]:
    with _counted(login, "counted") as way:
        conf = directory / "heatconv.conf"
        conf.write_text(f"[worker]\nthreads = {arguments.threads}\n")
        options = ["--config-file", str(conf), "--port", "0", "--state-dir", str(directory / "state")]
        process = Process(
            [program("heatconv-all"), *options, "--os-cloud", "counted"],
            directory / "heatconv-all.log",
            {"OS_CLIENT_CONFIG_FILE": str(login.clouds)},
        )
        try:
            client = Client(process.wait_for(r"heatconv is up: (\S+)")[1], timeout=600)
            made = _measured("heatconv", client, way, _template(arguments, small))
            report.say({"who": "heatconv", "peak_mib": _peak(process.pid)})
            return made
        finally:
            process.stop()


def _measured(who: str, client: Client, way: CountingProxy, template: dict[str, Any]) -> dict[str, Any]:
    """Have a service create the stack and delete it."""
    resources = len(template["resources"])

    def create() -> None:
        client.create_stack({"stack_name": "cloud", "template": template, "disable_rollback": True})
        _await(client, "CREATE_COMPLETE")

    def delete() -> None:
        client.delete_stack("cloud")
        _await(client, None)

    return {
        "create": _timed(who, "create", way, resources, create),
        "delete": _timed(who, "delete", way, resources, delete),
    }


def _template(arguments: argparse.Namespace, small: dict[str, str]) -> dict[str, Any]:
    resources: dict[str, Any] = {}
    for place in range(arguments.networks):
        net = {"get_resource": f"net-{place}"}
        cidr = f"10.{place // 250}.{place % 250}.0/24"
        resources |= {
            f"net-{place}": {"type": "OS::Neutron::Net"},
            f"subnet-{place}": {"type": "OS::Neutron::Subnet", "properties": {"network": net, "cidr": cidr}},
            f"port-{place}": {"type": "OS::Neutron::Port", "properties": {"network": net}},
        }
    for place in range(arguments.servers):
        port = {"get_resource": f"port-{place % arguments.networks}"}
        properties = {**small, "networks": [{"port": port}]}
        resources[f"server-{place}"] = {"type": "OS::Nova::Server", "properties": properties}
    return {"heat_template_version": "2021-04-16", "resources": resources}


def _await(client: Client, wanted: str | None) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = [each["stack_status"] for each in client.list_stacks({})]
        if found == ([] if wanted is None else [wanted]):
            return
        if found and found[0].endswith("FAILED"):
            raise SystemExit(client.show_stack("cloud")["stack_status_reason"])
        time.sleep(0.2)
    raise SystemExit("it takes too long")


def _peak(pid: int) -> float:
    """Return the most memory that a process had resident, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return round(int(status.partition("VmHWM:")[2].split()[0]) / 1024, 1)


# -- Heat --------------------------------------------------------------------------------------


def _heat(
    login: Login, directory: Path, arguments: argparse.Namespace, small: dict[str, str]
) -> dict[str, Any]:
    """Have the Heat that runs do the same; its pace is of its own configuration."""
    _ = directory
    with _counted(login, "heat", arguments.heat_way) as way:
        session = requests.Session()
        session.headers["X-Auth-Token"] = login.connect().auth_token
        url = f"{arguments.heat.rstrip('/')}/{login.project.id}"
        client = Client(url, session=session, timeout=600)
        return _measured("heat", client, way, _template(arguments, small))


# -- the script --------------------------------------------------------------------------------


def _script(  # noqa: C901 - what it does is written in a row, as such scripts are
    login: Login, directory: Path, arguments: argparse.Namespace, small: dict[str, str]
) -> dict[str, Any]:
    """Do the same with openstacksdk alone; each thread has a connection of its own."""
    _ = directory
    with _counted(login, "scripted") as way:
        mine = threading.local()
        auth = login.auth | {"auth_url": way.leading_to(login.auth["auth_url"])}

        def cloud() -> Any:
            if not hasattr(mine, "cloud"):
                mine.cloud = openstack.connect(
                    auth=auth,
                    region_name=login.admin.config.region_name,
                    load_envvars=False,
                    load_yaml_config=False,
                )
            return mine.cloud

        made: dict[str, list[str]] = {"networks": [], "subnets": [], "ports": [], "servers": []}

        def network(place: int) -> str:
            it = cloud().network
            net = it.create_network(name=f"net-{place}")
            cidr = f"10.{place // 250}.{place % 250}.0/24"
            subnet = it.create_subnet(name=f"subnet-{place}", network_id=net.id, ip_version=4, cidr=cidr)
            port = it.create_port(name=f"port-{place}", network_id=net.id)
            for kind, each in (("networks", net), ("subnets", subnet), ("ports", port)):
                made[kind].append(each.id)
            return str(port.id)

        def server(port: str) -> None:
            it = cloud().compute
            there = it.create_server(
                name=f"server-{port}",
                flavor_id=small["flavor"],
                image_id=small["image"],
                networks=[{"port": port}],
            )
            made["servers"].append(there.id)
            it.wait_for_server(there, interval=POLL, wait=int(PATIENCE))

        def both(place: int) -> None:
            port = network(place)
            if place < arguments.servers:
                server(port)

        def unserve(server_id: str) -> None:
            it = cloud().compute
            it.delete_server(server_id)
            it.wait_for_delete(it.get_server(server_id), interval=POLL, wait=int(PATIENCE))

        def delete(pool: ThreadPoolExecutor) -> None:
            list(pool.map(unserve, made["servers"]))
            for kind in ("port", "subnet", "network"):
                list(
                    pool.map(
                        lambda each, kind=kind: getattr(cloud().network, f"delete_{kind}")(each),
                        made[f"{kind}s"],
                    )
                )

        resources = 3 * arguments.networks + arguments.servers
        with ThreadPoolExecutor(arguments.threads) as pool:
            create = _timed(
                "script",
                "create",
                way,
                resources,
                lambda: list(pool.map(both, range(arguments.networks))),
            )
            return {
                "create": create,
                "delete": _timed("script", "delete", way, resources, lambda: delete(pool)),
            }


if __name__ == "__main__":
    main()
