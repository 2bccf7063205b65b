# SPDX-License-Identifier: Apache-2.0
"""Users that resources have in Keystone: each reaches its resource alone, is there once, and goes with it."""

from __future__ import annotations

import json

import pytest
import requests
from heatclient.client import Client as HeatClient
from heatclient.exc import HTTPException
from keystoneauth1.exceptions import Unauthorized
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from heatconv.api.routes import ROUTES
from heatconv.resources.stack_users import ROLE
from tests.cloud.conftest import Stack
from tests.cloud.domains import domain_of_stack_users
from tests.cloud.test_exactly_once import Mortals

HANDLE = "OS::Heat::WaitConditionHandle"


@pytest.fixture(scope="module")
def domain(admin):
    """Return a new domain, with somebody who makes users in it."""
    with domain_of_stack_users(admin) as made:
        yield made


@pytest.fixture(scope="module")
def config(admin, login, domain, tmp_path_factory):
    """Return a configuration with the domain, in which callers need a token."""
    keystone = admin.config.auth["auth_url"]
    options = "\n".join(f"{name} = {value}" for name, value in domain.options.items())
    file = tmp_path_factory.mktemp("stack-users") / "heatconv.conf"
    file.write_text(f"""
[DEFAULT]
{options}
[auth]
strategy = keystone
[keystone_authtoken]
www_authenticate_uri = {keystone}
auth_url = {keystone}
auth_type = password
user_id = {login.operator.id}
password = {login.password}
project_id = {login.project.id}
""")
    return str(file)


class Installation:
    """A heatconv with stack users, whose callers need a token."""

    def __init__(self, login, process):
        self.login = login
        self.token = login.connect().authorize()
        self.process = process
        self.reach(process)

    def reach(self, process):
        """Ask this process from now on."""
        self.root = process.wait_for(r"heatconv is up: (\S+)/v1/")[1]

    def endpoint(self, project):
        return f"{self.root}/v1/{project}"

    def stack(self):
        """Return a stack of the project that is not there yet."""
        return Stack(self.endpoint(self.login.project.id), self.token)

    def ask(self, token, method, path, project, **more):
        """Return the status of an answer."""
        url, headers = self.endpoint(project) + path, {"X-Auth-Token": token}
        return requests.request(
            method, url, headers=headers, timeout=60, allow_redirects=False, **more
        ).status_code


class Sender:
    """Somebody who logs in with the login that a resource shows."""

    def __init__(self, login):
        self.project = login["project_id"]
        self.session = Session(
            v3.Password(
                login["auth_url"],
                user_id=login["user_id"],
                password=login["password"],
                project_id=self.project,
            )
        )

    @property
    def token(self):
        return self.session.get_token()

    def heat(self, installation):
        """Return OpenStack's own client, as agents on servers have it."""
        return HeatClient("1", session=self.session, endpoint_override=installation.endpoint(self.project))


@pytest.fixture(scope="module")
def installation(login, run, config):
    """Return a heatconv with stack users."""
    process = run("mine", "--config-file", config)
    yield Installation(login, process)
    assert "Traceback" not in process.output


@pytest.fixture
def stacks(installation, domain):
    """Return a function that makes stacks; in the end they are gone, and nothing is left of them."""
    made = []

    def make():
        made.append(installation.stack())
        return made[-1]

    yield make
    for each in made:
        each.delete()
    assert (domain.users(), domain.projects()) == ([], [])


def handles(**transports):
    """Return the resources and outputs of handles by name, with how they take signals."""
    resources = {
        name: {"type": HANDLE, "properties": {"signal_transport": transport}}
        for name, transport in transports.items()
    }
    return resources, {name: {"get_attr": [name, "signal"]} for name in transports}


def login_from(stack, output):
    """Return the login that a handle has for its senders."""
    return json.loads(stack.output(output))


def statuses(stack, name):
    """Return the statuses of the signals that a handle has got."""
    return sorted(each["status"] for each in stack.client.show_metadata(stack.name, name).values())


def test_a_stack_user_signals_its_own_resource_and_reaches_nothing_else(stacks, installation, domain):
    mine, other = stacks(), stacks()
    resources, outputs = handles(a="HEAT_SIGNAL", b="HEAT_SIGNAL", open="CFN_SIGNAL")
    mine.create(resources, outputs)
    other.create(resources, outputs)
    users = domain.users()
    assert len(users) == len(domain.projects()) == 4
    for user in users:
        assert domain.roles(user) == [(ROLE, user.default_project_id)]
    sender, owner = Sender(login_from(mine, "a")), installation.login.project.id

    def signal(stack, name, project=sender.project):
        path = f"/stacks/{stack.name}/{stack.id}/resources/{name}/signal"
        return installation.ask(sender.token, "POST", path, project, json={"status": "SUCCESS"})

    assert signal(mine, "a") == 200
    assert [signal(mine, name) for name in ("b", "open", "none")] == [404] * 3
    assert [signal(other, name) for name in ("a", "b", "open")] == [404] * 3
    assert [signal(each, "a", project=owner) for each in (mine, other)] == [403] * 2
    assert signal(mine, "a", project=Sender(login_from(other, "a")).project) == 403
    assert statuses(mine, "a") == ["SUCCESS"]
    assert statuses(mine, "b") == statuses(mine, "open") == statuses(other, "a") == []


def test_a_stack_user_may_read_metadata_and_signal_and_nothing_else(stacks, installation):
    stack = stacks()
    resources, outputs = handles(a="HEAT_SIGNAL")
    stack.create(resources, outputs)
    sender = Sender(login_from(stack, "a"))
    config = stack.client.create_software_config({"name": "setup"})["id"]
    fields = {
        "stack_name": stack.name,
        "stack_id": stack.id,
        "resource_name": "a",
        "event_id": "none",
        "output_key": "a",
        "snapshot_id": "none",
        "plan_id": "none",
        "config_id": config,
        "deployment_id": "none",
        "server_id": "a",
        "type_name": "OS::Heat::Value",
        "version": "heat_template_version.2021-04-16",
        "arn_id": stack.id,
    }
    before = stack.client.show_stack(stack.name)
    answers = {
        f"{method} {url}": installation.ask(
            sender.token, method, url.format(**fields), sender.project, json=None if method == "GET" else {}
        )
        for url, handlers in ROUTES.items()
        for method in handlers
    }
    own = "/stacks/{stack_name}/{stack_id}/resources/{resource_name}"
    reached = {route for route, status in answers.items() if status not in (403, 404)}
    of_servers = "GET /software_deployments/metadata/{server_id}"  # it is for all, of what their project has
    assert reached == {f"GET {own}/metadata", f"POST {own}/signal", f"PUT {own}/signal", of_servers}
    assert installation.ask(sender.token, "GET", "/software_deployments/metadata/a", sender.project) == 200
    assert stack.client.show_stack(stack.name) == before
    stack.client.delete_software_config(config)


def test_a_token_signals_where_the_handle_says(stacks, installation):
    stack = stacks()
    resources, outputs = handles(a="TOKEN_SIGNAL")
    outputs["curl"] = {"get_attr": ["a", "curl_cli"]}
    stack.create(resources, outputs)
    given = login_from(stack, "a")
    assert f"X-Auth-Token: {given['token']}" in stack.output("curl")
    assert "signature" not in given["endpoint"]
    for token, status in ((given["token"], 200), ("", 401)):
        headers = {"X-Auth-Token": token}
        answer = requests.post(given["endpoint"], json={"status": "SUCCESS"}, headers=headers, timeout=60)
        assert answer.status_code == status
    assert statuses(stack, "a") == ["SUCCESS"]


def test_a_user_is_let_in_as_long_as_its_stack_is_not_suspended(stacks, domain):
    stack = stacks()
    resources, outputs = handles(a="HEAT_SIGNAL")
    stack.create(resources, outputs)
    given = login_from(stack, "a")
    for action, enabled in (("suspend", False), ("resume", True)):
        stack.act(action, until=f"{action.upper()}_COMPLETE")
        (user,) = domain.users()
        assert user.is_enabled is enabled
        if enabled:
            assert Sender(given).token
        else:
            with pytest.raises(Unauthorized):
                Sender(given).token  # noqa: B018 - it logs in


def deployed(*actions):
    """Return a deployment that a server answers for as a user."""
    return {
        "config": {"type": "OS::Heat::SoftwareConfig", "properties": {"config": "true", "group": "script"}},
        "deployment": {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {
                "config": {"get_resource": "config"},
                "server": "a-server",
                "signal_transport": "HEAT_SIGNAL",
                "actions": list(actions),
            },
        },
    }


def answer_for(stack, installation):
    """Run what is to be run on the server, and answer as heat-agents do."""
    (config,) = stack.client.list_deployed_configs("a-server")
    given = {each["name"].removeprefix("deploy_"): each["value"] for each in config["inputs"]}
    Sender(given).heat(installation).resources.signal(
        given["stack_id"],
        given["resource_name"],
        data={"deploy_status_code": 0, "deploy_stdout": given["action"]},
    )


def test_a_deployment_is_answered_by_its_user_to_the_end(stacks, installation, domain):
    """The user is there until the last run, that of the deletion, has been answered."""
    stack = stacks()
    stack.begin(deployed("CREATE", "DELETE"))
    stack.wait_until(lambda: stack.client.list_deployed_configs("a-server"))
    answer_for(stack, installation)
    stack.wait_for("CREATE_COMPLETE")
    (user,) = domain.users()
    stack.client.delete_stack(stack.name)
    stack.wait_until(lambda: "DELETE" in json.dumps(stack.client.list_deployed_configs("a-server")))
    assert domain.users() == [user]
    answer_for(stack, installation)
    stack.wait_for("gone")


def test_a_server_fetches_its_own_metadata_as_its_user(stacks, installation, smallest, domain):
    stack = stacks()
    net = {"net": {"type": "OS::Neutron::Net"}}
    subnet = {
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "net"}, "cidr": "10.23.0.0/24"},
        }
    }
    server = {
        "type": "OS::Nova::Server",
        "depends_on": "subnet",
        "properties": {
            **smallest,
            "networks": [{"network": {"get_resource": "net"}}],
            "user_data_format": "SOFTWARE_CONFIG",
            "software_config_transport": "POLL_SERVER_HEAT",
        },
    }
    resources = net | subnet | {"server": server} | deployed("CREATE")
    resources["deployment"]["properties"]["server"] = {"get_resource": "server"}
    stack.begin(resources, {"occ": {"get_attr": ["server", "os_collect_config"]}})
    server_id = None

    def is_deployed():
        nonlocal server_id
        server_id = server_id or stack.id_of("server")
        return server_id and stack.client.list_deployed_configs(server_id)

    stack.wait_until(is_deployed)
    occ = stack.client.show_metadata(stack.name, "server")["os-collect-config"]["heat"]
    agent = Sender(occ).heat(installation).resources
    fetched = agent.metadata(occ["stack_id"], occ["resource_name"])
    (config,) = fetched["deployments"]
    with pytest.raises(HTTPException) as refused:
        agent.metadata(occ["stack_id"], "deployment")
    assert refused.value.code == 404
    given = {each["name"].removeprefix("deploy_"): each["value"] for each in config["inputs"]}
    assert (given["server_id"], given["user_id"] != occ["user_id"]) == (server_id, True)
    Sender(given).heat(installation).resources.signal(
        given["stack_id"], given["resource_name"], data={"deploy_status_code": 0}
    )
    stack.wait_for("CREATE_COMPLETE")
    assert {user.id for user in domain.users()} == {given["user_id"], occ["user_id"]}


def keys(identity, user):
    """Return the EC2 credentials that a user has in Keystone, the access key and the secret of each."""
    found = [json.loads(each.blob) for each in identity.credentials() if each.user_id == user.id]
    return [(each["access"], each["secret"]) for each in found]


def test_a_key_is_of_the_user_that_it_names_and_goes_without_it(stacks, domain, admin):
    stack = stacks()
    user = {
        "policy": {"type": "OS::Heat::AccessPolicy", "properties": {"AllowedResources": ["user"]}},
        "user": {"type": "AWS::IAM::User", "properties": {"Policies": [{"get_resource": "policy"}]}},
    }
    key = {"type": "AWS::IAM::AccessKey", "properties": {"UserName": {"get_resource": "user"}}}
    outputs = {"access": {"get_resource": "key"}, "secret": {"get_attr": ["key", "SecretAccessKey"]}}
    stack.create(user | {"key": key}, outputs)
    (there,) = domain.users()
    assert keys(admin.identity, there) == [(stack.output("access"), stack.output("secret"))]
    stack.update(user)
    assert keys(admin.identity, there) == []
    assert domain.users() == [there]


@pytest.fixture
def mortals(login, config, tmp_path):
    """Return processes with stack users that may die."""
    made = Mortals(login.clouds, tmp_path, "--config-file", config)
    yield made
    for process in made.running:
        process.stop()


@pytest.mark.parametrize(
    ("path", "then"),
    [("projects", "go on"), ("users", "go on"), ("users", "delete"), ("projects/.*/roles/[^/]+", "go on")],
)
def test_whoever_dies_there_is_one_user_and_in_the_end_none(path, then, mortals, installation, domain):
    resources, outputs = handles(a="HEAT_SIGNAL")
    project_id = installation.login.project.id
    first, endpoint = mortals.start(rf"(POST|PUT) \S+/v3/{path}$")
    stack = Stack(endpoint.replace("/default", f"/{project_id}"), installation.token)
    stack.begin(resources, outputs)
    first.wait()
    assert len(domain.projects()) == 1
    _, endpoint = mortals.start()
    stack.reach(endpoint.replace("/default", f"/{project_id}"))
    if then == "go on":
        stack.wait_for("CREATE_COMPLETE")
        (user,), (project,) = domain.users(), domain.projects()
        assert domain.roles(user) == [(ROLE, project.id)]
        assert Sender(login_from(stack, "a")).token
    stack.delete()
    assert (domain.users(), domain.projects()) == ([], [])


def test_a_domain_without_an_administrator_is_told_at_the_start(run, domain, tmp_path):
    file = tmp_path / "heatconv.conf"
    file.write_text(f"[DEFAULT]\nstack_user_domain_name = {domain.options['stack_user_domain_name']}\n")
    process = run("mine", "--config-file", str(file))
    process.wait()
    assert "set stack_domain_admin, too" in process.output
    assert "Traceback" not in process.output
