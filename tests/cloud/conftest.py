# SPDX-License-Identifier: Apache-2.0
"""A heatconv-all on a real cloud, in a project of its own, and the services' own word for what is there.

The cloud is the one that openstacksdk finds: of ``OS_CLOUD``, or of the
variables of an openrc.  Its user has to be an administrator, to make the project
and its user, who is no administrator.

``-m "not long"`` leaves out what takes more than a few seconds and says little that the
rest does not.
"""

from __future__ import annotations

import itertools
import secrets
import time
import warnings
from pathlib import Path

import openstack
import pytest
import requests
import yaml
from keystoneauth1.exceptions import ClientException
from openstack.exceptions import SDKException

from heatconv.client.http import Client, ClientError
from tests.cloud.world import World, servers_of
from tests.functional.servers.processes import Process, program

HERE = Path(__file__).parent
NUMBERS = itertools.count(1)
PATIENCE = 180.0  #: seconds that a stack may take
GONE = "gone"
LINES = pytest.StashKey[list[str]]()


def pytest_configure(config):
    config.stash[LINES] = []
    config.addinivalue_line(
        "markers", "long: takes minutes, or repeats for another type what a short test shows"
    )


def pytest_terminal_summary(terminalreporter, config):
    if config.stash[LINES]:
        terminalreporter.section("cloud")
        terminalreporter.write_line("\n".join(config.stash[LINES]))


@pytest.fixture
def add_line(request):
    """Return a function that adds a line to what is printed in the end."""
    return request.config.stash[LINES].append


def pytest_collection_modifyitems(items):
    """Let openstacksdk, by which these tests look, use what it calls deprecated."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(
                pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")
            )


@pytest.fixture(scope="session")
def admin():
    """Return a connection to the cloud, as an administrator."""
    try:
        connection = openstack.connect()
        connection.authorize()
    except (ClientException, SDKException) as error:
        pytest.fail(f"tests/cloud needs a cloud, named by OS_CLOUD or the variables of an openrc: {error}")
    return connection


class Login:
    """A user of a new project, and an administrator in it, as clouds.yaml has them."""

    def __init__(self, admin, directory):
        self.admin = admin
        name = f"heatconv-{secrets.token_hex(4)}"
        self.project = admin.identity.create_project(name=name, domain_id="default")
        self.password = secrets.token_urlsafe()
        self.user = self._user(name, "member")
        self.operator = self._user(f"{name}-operator", "admin")
        self.auth = {
            "auth_url": admin.config.auth["auth_url"],
            "user_id": self.user.id,
            "password": self.password,
            "project_id": self.project.id,
        }
        self.clouds = directory / "clouds.yaml"
        region = {"region_name": admin.config.region_name}
        self.write(
            mine={"auth": self.auth} | region,
            operators={"auth": self.auth | {"user_id": self.operator.id}} | region,
        )

    def _user(self, name, role):
        identity = self.admin.identity
        user = identity.create_user(
            name=name, password=self.password, domain_id="default", default_project_id=self.project.id
        )
        identity.assign_project_role_to_user(self.project, user, identity.find_role(role))
        return user

    def write(self, **clouds):
        known = yaml.safe_load(self.clouds.read_text())["clouds"] if self.clouds.exists() else {}
        self.clouds.write_text(yaml.safe_dump({"clouds": known | clouds}))

    def connect(self):
        """Return a connection of the user."""
        return openstack.connect(
            auth=self.auth,
            region_name=self.admin.config.region_name,
            load_envvars=False,
            load_yaml_config=False,
        )

    def leave(self):
        # Where a run is interrupted, this is no part of a test: what a test may use is no error here either.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for user in (self.user, self.operator):
                self.admin.identity.delete_user(user)
            self.admin.identity.delete_project(self.project)


@pytest.fixture(scope="session")
def login(admin, tmp_path_factory):
    """Return a user of a new project."""
    made = Login(admin, tmp_path_factory.mktemp("clouds"))
    yield made
    made.leave()


@pytest.fixture(scope="session")
def world(admin, tmp_path_factory):
    """Return another project, in which there is what single resources depend on."""
    made = World(Login(admin, tmp_path_factory.mktemp("world")))
    yield made
    made.leave()


@pytest.fixture(scope="session")
def cloud(login):
    """Return the services as the user sees them."""
    return login.connect()


@pytest.fixture(scope="session")
def run(login, tmp_path_factory):
    """Return a function that runs a heatconv-all with a cloud of clouds.yaml, and returns its process."""
    running = []

    def start(name="mine", *more, environment=None):
        directory = tmp_path_factory.mktemp("heatconv")
        options = ["--host", "127.0.0.1", "--port", "0", "--state-dir", str(directory / "state")]
        command = [program("heatconv-all"), *options, "--os-cloud", name, *more]
        process = Process(
            command,
            directory / "heatconv-all.log",
            {"OS_CLIENT_CONFIG_FILE": str(login.clouds)} | (environment or {}),
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.stop()


@pytest.fixture(scope="session")
def service(run):
    """Return a heatconv-all of the user's cloud; there must be no traceback in what it says."""
    process = run()
    process.endpoint = process.wait_for(r"heatconv is up: (\S+)")[1]
    yield process
    assert "Traceback" not in process.output


class Stack:
    """One stack, and the questions to ask of it."""

    def __init__(self, endpoint, token=None):
        self.name = f"real-{next(NUMBERS)}"
        self._token = token
        self.reach(endpoint)

    def reach(self, endpoint):
        """Ask there from now on."""
        session = requests.Session()
        if self._token is not None:
            session.headers["X-Auth-Token"] = self._token
        self.client = Client(endpoint, session=session)

    def create(self, resources, outputs=None, *, until="CREATE_COMPLETE"):
        self.begin(resources, outputs)
        self.wait_for(until)

    def begin(self, resources, outputs=None):
        """Ask for it, and wait for nothing."""
        self.id = self.client.create_stack({"stack_name": self.name, **source(resources, outputs)})

    def update(self, resources, outputs=None, *, until="UPDATE_COMPLETE", rollback=False):
        self.client.update_stack(self.name, source(resources, outputs) | {"disable_rollback": not rollback})
        self.wait_for(until)

    def refusal(self, resources):
        """Return the error that a stack is refused with."""
        with pytest.raises(ClientError) as refused:
            self.client.create_stack({"stack_name": self.name, **source(resources, None)})
        return str(refused.value)

    def act(self, action, *, until):
        self.client.act(self.name, action)
        self.wait_for(until)

    def delete(self):
        if self.state() != GONE:
            self.client.delete_stack(self.name)
            self.wait_for(GONE)

    def wait_for(self, wanted):
        """Wait until the stack is in a state, and in no other that is an end."""
        deadline = time.monotonic() + PATIENCE
        while (state := self.state()) != wanted:
            assert state.endswith("IN_PROGRESS"), f"{state}: {self.reason()}"
            assert time.monotonic() < deadline, f"still {state}"
            time.sleep(0.1)

    def wait_until(self, met):
        """Wait for something that happens while the stack is in progress."""
        deadline = time.monotonic() + PATIENCE
        while not met():
            assert (state := self.state()).endswith("IN_PROGRESS"), f"{state}: {self.reason()}"
            assert time.monotonic() < deadline, f"still {state}"
            time.sleep(0.1)

    def state(self):
        try:
            state = self.client.show_stack(self.name, resolve_outputs=False)["stack_status"]
        except ClientError as error:
            if error.status != 404:
                raise
            return GONE
        return GONE if state == "DELETE_COMPLETE" else state

    def reason(self):
        return self.client.show_stack(self.name, resolve_outputs=False)["stack_status_reason"]

    def said(self):
        """Return what the events say, in one text."""
        return "\n".join(each["resource_status_reason"] for each in self.client.list_events(self.name))

    def output(self, name):
        return self.client.show_output(self.name, name)["output_value"]

    def id_of(self, resource):
        """Return the physical id of a resource."""
        return self.client.show_resource(self.name, resource)["physical_resource_id"]

    def order(self, status):
        """Return the names of resources in the order in which they reached a status."""
        newest_first = self.client.list_events(self.id)
        return [
            each["resource_name"]
            for each in reversed(newest_first)
            if each["resource_status"] == status and each["resource_name"] != self.name
        ]


def source(resources, outputs=None):
    """Return what a stack is asked for with."""
    shown = {name: {"value": value} for name, value in (outputs or {}).items()}
    template = {"heat_template_version": "2021-04-16", "resources": resources, "outputs": shown}
    return {"template": template, "disable_rollback": True}


@pytest.fixture
def stack(service, cloud):
    """Return a stack that is not there yet; in the end it is gone, and with it all that it had."""
    made = Stack(service.endpoint)
    yield made
    made.delete()
    project = cloud.current_project_id
    left = [
        *servers_of(cloud),
        *cloud.network.ports(project_id=project),
        *cloud.network.subnets(project_id=project),
        *cloud.network.networks(project_id=project),
        *cloud.network.routers(project_id=project),
        *cloud.network.ips(project_id=project),
        *cloud.block_storage.volumes(),
    ]
    assert [(type(each).__name__, each.name, getattr(each, "status", None)) for each in left] == []


@pytest.fixture(scope="session")
def smallest(cloud):
    """Return the properties of a server as small as there is one, beside its networks."""
    flavors = sorted(cloud.compute.flavors(), key=lambda flavor: (flavor.ram, flavor.disk))
    image = next(iter(cloud.image.images()))
    return {"flavor": flavors[0].name, "image": image.name}


@pytest.fixture(scope="session")
def larger(cloud):
    """Return the name of the flavor that comes next."""
    return sorted(cloud.compute.flavors(), key=lambda flavor: (flavor.ram, flavor.disk))[1].name
