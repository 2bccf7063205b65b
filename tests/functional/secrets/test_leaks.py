# SPDX-License-Identifier: Apache-2.0
"""No secret leaks: not into the database as it is on disk, nor into logs, nor into answers of the API.

A story is told to a running heatconv that logs whatever it can, by calls of its
API.  Every value in it that is a secret is a text of its own, so that one that is
found tells by its name which way it took.

What a user asks for is answered.  Where that is, a secret says so (``shown_by``):

- an output tells the value that its template gives it;
- the metadata of a resource, the software configs and deployments on a server,
  are what agents read to do their work with;
- signed URLs, and what was signalled to a wait condition, are attributes;
- what exporting and abandoning answers is all that it takes to adopt the stack
  elsewhere, where an operator allows it.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import sqlalchemy as sa
import yaml

from heatconv.api.routes import ROUTES
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.keys import KEY
from tests.functional.secrets.witness import Heard, Json, Secrets, Witness
from tests.functional.servers.daemons import Daemons
from tests.functional.servers.one_process import PLUGINS, heatconv_all
from tests.functional.waiting import until

TELLTALE = Path(__file__).parent / "plugins"

STACK = "/stacks/{stack_name}/{stack_id}"
#: Validation shows the sender of a template the defaults in it.
VALIDATED = {"POST /validate"}
OUTPUTS = {f"GET {STACK}", f"GET {STACK}/outputs/{{output_key}}"}
METADATA = {f"GET {STACK}/resources/{{resource_name}}/metadata"}
ATTRIBUTES = {f"GET {STACK}/resources", f"GET {STACK}/resources/{{resource_name}}"}
CONFIGS = {"GET /software_configs/{config_id}", "GET /software_deployments/metadata/{server_id}"}
RUNS = {"GET /software_deployments", "GET /software_deployments/{deployment_id}"}
HANDED_OVER = {f"GET {STACK}/export", f"DELETE {STACK}/abandon"}
SERVER = METADATA | CONFIGS | RUNS  #: a server's metadata have its deployments

OPTIONS = {"debug": "true", "enable_stack_abandon": "true", "enable_stack_adopt": "true"}

#: Where ``Test::Telltale`` can fail while its stack is there.
FAILING = (
    "check",
    "suspend",
    "resume",
    "snapshot",
    "delete_snapshot",
    "restore",
    "signal",
    "compare",
    "update",
)


# -- the installation of the story ---------------------------------------------------------------


@dataclass
class Place:
    """A running heatconv, and what it leaves behind."""

    endpoint: str
    cloud: CloudControl
    dump: Callable[[], bytes]  #: all of the database as it is now, on disk
    directory: Path  #: of its logs

    def logs(self) -> bytes:
        """Return what every program has said."""
        return b"\n".join(path.read_bytes() for path in sorted(self.directory.glob("*.log")))


@contextmanager
def in_one_process(directory: Path, cloud_url: str) -> Iterator[Place]:
    config = directory / "heatconv.conf"
    lines = [f"{name} = {value}" for name, value in OPTIONS.items()]
    config.write_text("\n".join(["[DEFAULT]", *lines, f"auth_encryption_key = {KEY}"]))
    given = ("--config-file", str(config), "--plugin-dir", str(TELLTALE))

    def dump() -> bytes:
        while True:
            # When nobody is connected, the log beside the file is moved into it.
            with suppress(FileNotFoundError):
                return b"".join(path.read_bytes() for path in (directory / "state").glob("heatconv.sqlite*"))

    with heatconv_all(directory, cloud_url, *given) as endpoint:
        yield Place(endpoint, CloudControl(cloud_url), dump, directory)


@contextmanager
def as_daemons(directory: Path, database_url: str, rabbit_url: str) -> Iterator[Place]:
    options = {"DEFAULT": {**OPTIONS, "plugin_dirs": f"{PLUGINS},{TELLTALE}"}}
    engine = sa.create_engine(database_url)

    def dump() -> bytes:
        with engine.connect() as connection:
            names = sa.inspect(connection).get_table_names()
            queries = [f'SELECT CAST(t AS text) FROM "{name}" AS t' for name in names]
            return "\n".join(row for query in queries for row in connection.scalars(sa.text(query))).encode()

    with Daemons(
        directory, database_url=database_url, transport_url=rabbit_url, engines=1, workers=1, options=options
    ) as daemons:
        yield Place(daemons.endpoint, CloudControl(daemons.cloud_url), dump, directory)
    engine.dispose()


# -- the story -----------------------------------------------------------------------------------


@dataclass
class Story:
    """The requests of a story, and all that came of them."""

    place: Place
    secrets: Secrets = field(default_factory=Secrets)
    #: of no secret: a stack's name, and a parameter's value
    name: str = field(default_factory=lambda: f"marked-{secrets.token_hex(12)}")
    marker: str = field(default_factory=lambda: secrets.token_hex(12))
    dumps: list[bytes] = field(default_factory=list)
    made: str = ""  #: what the cloud was asked to make
    logs: bytes = b""

    def __post_init__(self) -> None:
        self.api = Witness(self.place.endpoint)
        self.secrets.add("the key", KEY)

    @property
    def heard(self) -> list[Heard]:
        """Every answer of the API."""
        return self.api.heard

    def keep(self) -> None:
        """Keep the database as it is now."""
        self.dumps.append(self.place.dump())

    def play(self) -> None:
        """Make all requests of the story."""
        self.refuse()
        path = self.create()
        self.change(path)
        self.visit(path)
        self.legacy()
        for where in FAILING:
            self.fail(where)
        self.fail_for_good()
        self.run_software()
        self.api.read_beside(path)
        self.made = json.dumps([entry.properties for entry in self.place.cloud.audit()])
        self.hand_over()
        self.delete(path)

    # -- a stack with every kind of secret ----------------------------------------------------------

    def source(self) -> Json:
        """Return what describes the stack."""
        text = self.secrets.text
        environment = {
            "parameters": {"password": text("password"), "card": {"number": text("number in a map")}},
            "parameter_defaults": {"from_defaults": text("parameter default")},
            "encrypted_param_names": ["named"],
        }
        given = {
            "named": text("encrypted parameter"),
            "card_text": json.dumps({"number": text("number in a text")}),
            "users": [self._short("first user"), self._short("second user")],
            "pin": self._pin(),
            "shown": text("shown by an output", OUTPUTS),
            "for_agents": text("in metadata", METADATA),
            "path": text("key of an attribute", plain=True),
            "marker": self.marker,
            "known": text("known to an agent", METADATA),
            "message": text("in a part of a message", CONFIGS),
            "script": text("in a script", CONFIGS),
        }
        return {
            "template": TEMPLATE | {"parameters": self._parameters()},
            "files": {
                "first.yaml": yaml.safe_dump(environment),
                "run.sh": f"login {text('password')} {text('number in a text')}\n",
                "first.json": json.dumps(environment),
            },
            "environment_files": ["first.yaml"],
            "parameters": given,
        }

    def _parameters(self) -> Json:
        hidden = {"type": "string", "hidden": True}
        return {
            **dict.fromkeys(("password", "from_defaults", "shown", "for_agents", "path"), hidden),
            **dict.fromkeys(("message", "script", "known"), hidden),
            "defaulted": hidden | {"default": self.secrets.text("default", VALIDATED)},
            "card": {"type": "json", "hidden": True},
            "card_text": {"type": "json", "hidden": "true"},
            "users": {"type": "comma_delimited_list", "hidden": True},
            "pin": {"type": "number", "hidden": True},
            "named": {"type": "string"},
            "marker": {"type": "string"},
        }

    def _short(self, name: str) -> str:
        known = self.secrets.all.get(name)
        return known.text if known else self.secrets.add(name, secrets.token_hex(4))

    def _pin(self) -> int:
        known = self.secrets.all.get("number")
        return int(
            known.text if known else self.secrets.add("number", str(10**14 + secrets.randbelow(10**14)))
        )

    def create(self) -> str:
        """Create the stack, with all that is signalled meanwhile."""
        api, source = self.api, self.source()
        api.ask("POST", "/validate", source, status=200)
        api.ask("POST", "/stacks/preview", {"stack_name": self.name, **source}, status=200)
        path = api.create(self.name, source)
        self._signal(path)
        outputs = {
            each["output_key"]: each["output_value"]
            for each in api.settled(path, "CREATE_COMPLETE")["outputs"]
        }
        self.secrets.add("random text", outputs["random"], OUTPUTS)
        assert self.secrets.all["shown by an output"].text == outputs["shown"]
        self._read(path)
        return path

    def _signal(self, path: str) -> None:
        """Let the wait condition go on, by the URL that its handle has."""
        url = until(lambda: self._signal_url(path))
        [signature] = parse_qs(urlsplit(url).query)["signature"]
        self.secrets.add("signature", signature, ATTRIBUTES | OUTPUTS | SERVER)
        signal = {
            "status": "SUCCESS",
            "id": "one",
            "reason": f"{self.secrets.text('known to an agent')} did it",
            "data": self.secrets.text(
                "signalled",
                METADATA
                | ATTRIBUTES
                | OUTPUTS
                | {f"GET {STACK}/snapshots/{{snapshot_id}}", f"GET {STACK}/snapshots"},
            ),
        }
        self.api.ask("POST", url, signal, status=200)
        self.api.ask("POST", url, {self.secrets.text("password"): 1}, status=400)

    def _signal_url(self, path: str) -> str:
        curl = self.api.ask("GET", f"{path}/outputs/curl", status=200)["output"]["output_value"]
        return str(curl).rpartition(" '")[2].strip("'") if curl else ""

    def change(self, path: str) -> None:
        """Change the stack in every way, and its secrets with it."""
        api, text = self.api, self.secrets.text
        changed = {"parameters": {"password": text("second password"), "named": text("second encrypted")}}
        api.ask("PATCH", f"{path}/preview", changed, status=200)
        api.ask("PUT", f"{path}/preview", self.source(), status=200)
        api.ask("POST", f"{path}/plans", {"existing": True, **changed}, status=201)
        api.ask("POST", f"{path}/plans", self.source(), status=201)
        api.ask("PATCH", path, changed, status=202)
        api.settled(path, "UPDATE_COMPLETE")
        teller = f"{path}/resources/teller"
        api.ask(
            "POST",
            f"{teller}/signal",
            {"password": text("second password"), "x": text("parameter default")},
            status=200,
        )
        marked = {"mark_unhealthy": True, "resource_status_reason": f"{text('second password')} is known"}
        api.ask("PATCH", teller, marked, status=200)
        self._read(path)
        api.ask("PUT", path, self.source(), status=202)
        api.settled(path, "UPDATE_COMPLETE")

    def visit(self, path: str) -> None:
        """Do to the stack what leaves its template as it is."""
        api = self.api
        for action in ("check", "suspend", "resume"):
            api.ask("POST", f"{path}/actions", {action: None}, status=200)
            api.settled(
                path,
                f"{action.upper()}_COMPLETE",
            )
        taken = api.ask("POST", f"{path}/snapshots", {"name": "kept"}, status=200)["id"]
        api.settled(path, "SNAPSHOT_COMPLETE")
        self._read(path)
        api.ask("POST", f"{path}/snapshots/{taken}/restore", status=202)
        api.settled(path, "RESTORE_COMPLETE")
        api.ask("DELETE", f"{path}/snapshots/{taken}", status=204)
        self._read(path)

    def legacy(self) -> None:
        """Say it in CloudFormation's language."""
        source = {
            "template": LEGACY
            | {
                "Parameters": {
                    "Given": {"Type": "String", "NoEcho": "true"},
                    "Defaulted": {
                        "Type": "String",
                        "NoEcho": True,
                        "Default": self.secrets.text("legacy default", VALIDATED),
                    },
                    "Many": {"Type": "CommaDelimitedList", "NoEcho": "true"},
                }
            },
            "parameters": {
                "Given": self.secrets.text("legacy"),
                "Many": f"a,{self.secrets.text('legacy list', plain=True)}",
            },
        }
        self.api.ask("POST", "/validate", source, status=200)
        path = self.api.create("legacy", source)
        self.api.settled(path, "CREATE_COMPLETE")
        self._read(path)

    # -- what goes wrong --------------------------------------------------------------------------

    def refuse(self) -> None:
        """Make requests that are refused, with secrets in them."""
        text = self.secrets.text
        source = self.source()
        wrong = text("refused value", plain=True)
        for constraint in (
            {"length": {"max": 3}},
            {"allowed_values": ["a"]},
            {"allowed_pattern": "[a-z]"},
            {"custom_constraint": "ip_addr"},
        ):
            self._refused(
                {
                    "template": _taking({"type": "string", "hidden": True, "constraints": [constraint]}),
                    "parameters": {"p": wrong},
                }
            )
        for type_ in ("number", "boolean", "json"):
            self._refused({"template": _taking({"type": type_, "hidden": True}), "parameters": {"p": wrong}})
        hidden = _taking({"type": "string", "hidden": True})
        named = _taking({"type": "string", "constraints": [{"length": {"max": 3}}]})
        environment = {"encrypted_param_names": ["p"], "parameters": {"p": wrong}}
        self._refused({"template": named, "environment": environment})
        self._refused({"template": hidden, "parameters": {"p": {"a": wrong}}})
        self._refused({"template": hidden, "parameters": {"p": f"\0{wrong}"}})
        self._refused({"template": hidden, "parameters": f"p={wrong}"})
        self._refused({"template": hidden, "parameters": [wrong]})
        self._refused({"template": hidden, "environment": wrong})
        self._refused({"template": hidden, "environment": f"parameters: {wrong}"})
        for document in (
            f"*{wrong}",
            f"!{wrong} x",
            f"'{wrong}",
            f"{{{wrong}: [",
            f"@{wrong}",
            f"!!int {wrong}",
        ):
            self._refused({"template": hidden, "environment": f"parameters:\n  p: {document}\n"})
        self._refused({"template": hidden, "environment": f"parameters:\n  p: 1\n  q: {wrong}\n q: 2"})
        for misused in (
            {
                "resources": {
                    "r": {"type": "OS::Heat::RandomString", "properties": {"length": {"get_param": "p"}}}
                }
            },
            {
                "resources": {
                    "r": {
                        "type": "OS::Heat::Value",
                        "properties": {"type": "number", "value": {"get_param": "p"}},
                    }
                }
            },
            {
                "resources": {
                    "r": {
                        "type": "OS::Heat::RandomString",
                        "properties": {"character_classes": [{"class": {"get_param": "p"}}]},
                    }
                }
            },
            {
                "resources": {
                    "r": {
                        "type": "OS::Heat::Value",
                        "properties": {"value": {"get_attr": ["r", {"get_param": "p"}]}},
                    }
                }
            },
            {
                "resources": {
                    "r": {
                        "type": "Test::Telltale",
                        "properties": {"value": {"get_param": "p"}, "fails_in": "validate"},
                    }
                }
            },
            {"outputs": {"o": {"value": {"get_file": {"get_param": "p"}}}}},
            {"outputs": {"o": {"value": {"str_split": [{"get_param": "p"}]}}}},
        ):
            self._refused({"template": hidden | misused, "parameters": {"p": wrong}})
        self.api.ask("POST", "/stacks", b'{"parameters": {"p": "%s' % wrong.encode(), status=400)
        self.api.ask("POST", "/stacks", b'{"parameters": {"p": NaN%s' % wrong.encode(), status=400)
        self._refused(
            source | {"parameters": source["parameters"] | {"pin": wrong, "card_text": "{" + wrong}}
        )

    def _refused(self, source: Json) -> None:
        for path, more in (
            ("/stacks", {"stack_name": "refused"}),
            ("/stacks/preview", {"stack_name": "refused"}),
            ("/plans", {"stack_name": "refused"}),
            ("/validate", {}),
        ):
            self.api.ask("POST", path, more | source)
            assert self.api.heard[-1].status in ((200, 400) if path == "/validate" else (400,)), (
                self.api.heard[-1]
            )

    def fail(self, where: str) -> None:
        """Have a resource fail while its stack is there, in words that repeat its secret."""
        api = self.api
        path = api.create(f"fails-in-{where.replace('_', '-')}", self._failing(where))
        api.settled(path, "CREATE_COMPLETE")
        teller = f"{path}/resources/teller"
        match where:
            case "check" | "suspend":
                api.ask("POST", f"{path}/actions", {where: None}, status=200)
                api.settled(path, f"{where.upper()}_FAILED")
            case "resume":
                api.ask("POST", f"{path}/actions", {"suspend": None}, status=200)
                api.settled(path, "SUSPEND_COMPLETE")
                api.ask("POST", f"{path}/actions", {"resume": None}, status=200)
                api.settled(path, "RESUME_FAILED")
            case "snapshot":
                api.ask("POST", f"{path}/snapshots", {}, status=200)
                api.settled(path, "SNAPSHOT_FAILED")
            case "delete_snapshot" | "restore":
                taken = api.ask("POST", f"{path}/snapshots", {}, status=200)["id"]
                api.settled(path, "SNAPSHOT_COMPLETE")
                if where == "restore":
                    api.ask("POST", f"{path}/snapshots/{taken}/restore")
                else:
                    api.ask("DELETE", f"{path}/snapshots/{taken}")
                assert api.heard[-1].status >= 400
            case "signal":
                api.ask("POST", f"{teller}/signal", {"a": 1}, status=200)
            case "compare" | "update":
                change = {"parameters": {"secret": self.secrets.text(f"changed to fail in {where}")}}
                api.ask("PATCH", f"{path}/preview", change)
                api.ask("POST", f"{path}/plans", {"existing": True, **change}, status=201)
                api.ask("PATCH", path, change, status=202)
                api.settled(path, "UPDATE_FAILED")
        self._read(path)

    def _failing(self, where: str) -> Json:
        return {
            "template": FAILS,
            "parameters": {"secret": self.secrets.text(f"fails in {where}"), "where": where},
        }

    def fail_for_good(self) -> None:
        """Fail to create, to roll back what failed, to delete, and to adopt."""
        api = self.api
        path = api.create("fails-in-create", self._failing("create"))
        assert "******" in api.settled(path, "CREATE_FAILED")["stack_status_reason"]
        self._read(path)
        path = api.create("fails-in-create-again", self._failing("create") | {"disable_rollback": False})
        api.settled(path, "ROLLBACK_COMPLETE")
        self._read(path)
        path = api.create("fails-in-delete", self._failing("delete"))
        api.settled(path, "CREATE_COMPLETE")
        api.ask("DELETE", path, status=204)
        api.settled(path, "DELETE_FAILED")
        self._read(path)
        data = api.ask("GET", f"{path}/export", status=200)
        data["environment"]["parameters"] |= {"where": "adopt", "secret": self.secrets.text("fails in adopt")}
        path = api.create("fails-in-adopt", {"adopt_stack_data": json.dumps(data)})
        api.settled(path, "ADOPT_FAILED")
        self._read(path)

    # -- servers ------------------------------------------------------------------------------------

    def run_software(self) -> None:
        """Run a config with secrets on a server, well and badly."""
        api, text = self.api, self.secrets.text
        parameters = {
            "config": text("software config", SERVER),
            "structured": text("structured config", SERVER),
            "default": text("default of an input", SERVER),
            "input": text("input", SERVER),
        }
        path = api.create("software", {"template": SOFTWARE, "parameters": parameters})
        for status in (0, 1):
            self._answer(path, status)
            if status == 0:
                api.settled(path, "CREATE_COMPLETE")
                self._read(path)
                change = {"parameters": {"input": text("another input", SERVER)}}
                api.ask("PATCH", path, change, status=202)
        api.settled(path, "UPDATE_FAILED")
        self._read(path)

    def _answer(self, path: str, code: int) -> None:
        """Answer as the agent on the server does, when there is something to be run."""
        text = self.secrets.text
        url = until(self._to_be_answered)
        [signature] = parse_qs(urlsplit(url).query)["signature"]
        self.secrets.add(f"signature to answer with {code}", signature, SERVER)
        shown = RUNS | ATTRIBUTES
        answer = {
            "result": text("output of software", shown),
            "deploy_stdout": text("standard output", shown),
            "deploy_stderr": f"{text('input')} is wrong, {text('standard error', shown)}",
            "deploy_status_code": code,
        }
        self.api.ask("POST", url, answer, status=200)

    def _to_be_answered(self) -> str:
        for run in self.api.ask("GET", "/software_deployments", status=200)["software_deployments"]:
            if run["status"] == "IN_PROGRESS":
                config = self.api.ask("GET", f"/software_configs/{run['config_id']}", status=200)
                inputs = {each["name"]: each.get("value") for each in config["software_config"]["inputs"]}
                return str(inputs["deploy_signal_id"])
        return ""

    # -- the end --------------------------------------------------------------------------------------

    def hand_over(self) -> None:
        """Abandon a stack, adopt its resources, and delete the new stack."""
        api = self.api
        path = api.create("leaving", self._failing("nowhere"))
        api.settled(path, "CREATE_COMPLETE")
        api.ask("GET", f"{path}/export", status=200)
        data = api.ask("DELETE", f"{path}/abandon", status=200)
        path = api.create("coming", {"adopt_stack_data": json.dumps(data)})
        api.settled(path, "ADOPT_COMPLETE")
        self._read(path)
        self.delete(path)

    def delete(self, path: str) -> None:
        """Delete a stack, and read what can be read of it still."""
        self.api.ask("DELETE", path, status=204)
        until(lambda: self._is_gone(path))
        self._read(path)

    def _is_gone(self, path: str) -> bool:
        stack = self.api.ask("GET", path).get("stack")
        return stack is None or stack["stack_status"] == "DELETE_COMPLETE"

    def _read(self, path: str) -> None:
        self.api.read_all(path)
        self.keep()


def _taking(parameter: Json) -> Json:
    return {"heat_template_version": "2021-04-16", "parameters": {"p": parameter}}


def _p(name: str) -> Json:
    return {"get_param": name}


def _value(value: Any, type_: str = "string") -> Json:
    return {"type": "OS::Heat::Value", "properties": {"type": type_, "value": value}}


def _server(value: Any) -> Json:
    return {"type": "Fake::Cloud::Server", "properties": {"value": value}}


ATTRIBUTE = {"get_attr": ["teller", "value"]}

TEMPLATE: Json = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "replaced": _server(
            {
                "str_replace": {
                    "template": "p=%p d=%d",
                    "params": {"%p": _p("password"), "%d": _p("defaulted")},
                }
            }
        ),
        "joined": _server({"list_join": [":", ["x", _p("from_defaults"), _p("named")], _p("users")]}),
        "number": _server(
            {
                "str_replace_strict": {
                    "template": "4-%n-%t",
                    "params": {
                        "%n": {"get_param": ["card", "number"]},
                        "%t": {"get_param": ["card_text", "number"]},
                    },
                }
            }
        ),
        "map": _value(
            {"card": _p("card"), "text": _p("card_text"), "pin": _p("pin"), "list": _p("users")}, "json"
        ),
        "url": _value(
            {"make_url": {"scheme": "https", "username": "me", "password": _p("password"), "host": "h"}}
        ),
        "split": _value({"str_split": ["/", _p("password")]}, "comma_delimited_list"),
        "upper": _value({"yaql": {"expression": "$.data.toUpper()", "data": _p("from_defaults")}}),
        "merged": _value({"map_merge": [{"a": _p("named")}, _p("card")]}, "json"),
        "flag": _value({"if": [{"equals": [_p("password"), "x"]}, "a", _p("defaulted")]}),
        "teller": {
            "type": "Test::Telltale",
            "properties": {"value": _p("password"), "data": {"card": _p("card"), "marker": _p("marker")}},
            "metadata": {"password": _p("for_agents"), "marker": _p("marker")},
        },
        "relay": _server(ATTRIBUTE),
        "relay_in_url": _value(
            {"make_url": {"scheme": "https", "username": "me", "password": ATTRIBUTE, "host": "h"}}
        ),
        "relay_in_text": _value(
            {"str_replace": {"template": "<%t>", "params": {"%t": {"get_attr": ["teller", "all"]}}}}
        ),
        "keyed_map": _value(
            {"open": {"yaql": {"expression": "dict([[$.data, opened]])", "data": _p("path")}}}, "json"
        ),
        "keyed": _value({"get_attr": ["keyed_map", "value", "open", _p("path")]}),
        "mime": {
            "type": "OS::Heat::MultipartMime",
            "properties": {
                "parts": [{"config": {"list_join": ["", ["é ", _p("message")]]}}, {"config": _p("script")}]
            },
        },
        "random": {"type": "OS::Heat::RandomString"},
        "of_random": _server({"get_attr": ["random", "value"]}),
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "wait": {
            "type": "OS::Heat::WaitCondition",
            "properties": {"handle": {"get_resource": "handle"}, "timeout": 60},
        },
    },
    "outputs": {
        "shown": {"value": _p("shown")},
        "random": {"value": {"get_resource": "random"}},
        "data": {"value": {"get_attr": ["wait", "data"]}},
        "curl": {"value": {"get_attr": ["handle", "curl_cli"]}},
        "wrong": {"value": {"get_attr": ["map", "value", {"get_attr": ["teller", "value"]}, "x"]}},
        "marker": {"value": _p("marker")},
    },
}

LEGACY: Json = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "One": {
            "Type": "Fake::Cloud::Server",
            "Properties": {
                "value": {"Fn::Base64": {"Fn::Join": ["-", [{"Ref": "Given"}, {"Ref": "Defaulted"}]]}}
            },
        },
        "Two": {"Type": "Test::Telltale", "Properties": {"value": {"Fn::Select": ["1", {"Ref": "Many"}]}}},
        "Three": {"Type": "OS::Heat::Value", "Properties": {"value": {"Fn::GetAtt": ["Two", "value"]}}},
    },
}

FAILS: Json = {
    "heat_template_version": "2021-04-16",
    "parameters": {"secret": {"type": "string", "hidden": True}, "where": {"type": "string"}},
    "resources": {
        "teller": {
            "type": "Test::Telltale",
            "properties": {"value": _p("secret"), "fails_in": _p("where")},
        },
    },
}

_HIDDEN = {"type": "string", "hidden": True}

SOFTWARE: Json = {
    "heat_template_version": "2021-04-16",
    "parameters": dict.fromkeys(("config", "structured", "default", "input"), _HIDDEN),
    "resources": {
        "server": {"type": "Fake::Cloud::Server"},
        "script": {
            "type": "OS::Heat::SoftwareConfig",
            "properties": {
                "config": {"str_replace": {"template": "echo '%c'", "params": {"%c": _p("config")}}},
                "inputs": [{"name": "in"}, {"name": "other", "default": _p("default")}],
                "outputs": [{"name": "result"}],
            },
        },
        "more": {
            "type": "OS::Heat::StructuredConfig",
            "properties": {"config": {"a": {"b": _p("structured")}}},
        },
        "run": {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {
                "config": {"get_resource": "script"},
                "server": {"get_resource": "server"},
                "input_values": {"in": _p("input")},
            },
        },
    },
}


# -- what came of it ------------------------------------------------------------------------------


#: seconds for all of a story, on a machine that is busy with others
pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def played(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("leaks")
    if request.param == "sqlite":
        opened = in_one_process(directory, request.getfixturevalue("cloud_url"))
        dropped = None
    else:
        databases = request.getfixturevalue("databases")("postgresql")
        dropped = databases.fresh()
        opened = as_daemons(directory, dropped, request.getfixturevalue("rabbit_url"))
    with opened as place:
        story = Story(place)
        story.play()
    story.keep()
    story.logs = place.logs()
    yield story
    if dropped:
        databases.drop(dropped)


def test_no_answer_tells_a_secret(played):
    leaks = {
        (name, heard.call, heard.status)
        for heard in played.heard
        if heard.call not in HANDED_OVER
        for name in played.secrets.found_in(heard.content)
        if heard.call not in played.secrets.all[name].shown_by
    }
    assert leaks == set()


def test_the_database_holds_no_secret(played):
    assert [played.secrets.found_in(dump) for dump in played.dumps] == [[]] * len(played.dumps)


def test_no_log_tells_a_secret(played):
    assert played.secrets.found_in(played.logs) == []


# -- that it would be found -------------------------------------------------------------------------


def test_what_is_no_secret_is_found_everywhere(played):
    known = Secrets()
    known.add("name", played.name)
    known.add("marker", played.marker)

    assert all("name" in known.found_in(dump) for dump in played.dumps[1:])
    assert known.found_in(played.logs) == ["name", "marker"]
    places = {heard.call for heard in played.heard if "marker" in known.found_in(heard.content)}
    assert places >= {f"GET {STACK}", f"GET {STACK}/environment", f"GET {STACK}/export"}


def test_every_secret_was_told(played):
    answered = [
        heard.content
        for heard in played.heard
        if heard.call in HANDED_OVER | OUTPUTS | RUNS | CONFIGS | METADATA and heard.status == 200
    ]
    heard = {name for content in [*answered, played.made] for name in played.secrets.found_in(content)}

    assert played.secrets.all.keys() - heard == {"the key", "refused value"}


def test_every_secret_is_shown_where_that_is_promised(played):
    """Whoever is to have it gets it: an exception that nobody needs is none."""
    shown = {(heard.call, name) for heard in played.heard for name in played.secrets.found_in(heard.content)}
    needless = {
        name: secret.shown_by
        for name, secret in played.secrets.all.items()
        if secret.shown_by and not any((call, name) in shown for call in secret.shown_by)
    }
    assert needless == {}


def test_all_that_can_be_read_was(played):
    asked = {heard.call for heard in played.heard}
    assert {f"GET {route}" for route, handlers in ROUTES.items() if "GET" in handlers} <= asked


@pytest.mark.parametrize(
    "spelled",
    [
        str,
        json.dumps,
        quote,
        repr,
        str.upper,
        lambda text: text[3:18],
        lambda text: base64.b64encode(text.encode()).decode(),
        lambda text: base64.b64encode(f"x{text}".encode()).decode(),
        lambda text: base64.urlsafe_b64encode(f"xy{text}".encode()).decode(),
    ],
)
def test_a_secret_is_found_however_it_is_spelled(spelled):
    known = Secrets()
    text = known.text("a")
    known.text("b")

    assert known.found_in(f"before {spelled(text)} behind") == ["a"]
