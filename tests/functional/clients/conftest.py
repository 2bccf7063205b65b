# SPDX-License-Identifier: Apache-2.0
"""The services that clients are driven against, and the table of what came of it.

``world`` is a running service: everything in one process on SQLite, then daemons
on PostgreSQL and RabbitMQ.  ``heat``, ``conn``, ``osc`` and ``cli`` are the clients of it.
"""

from __future__ import annotations

import io
import json
import logging
import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import openstack
import pytest
from heatclient import client as heatclient
from keystoneauth1 import noauth, session

from heatconv.cli.main import main as heatconv
from tests.functional.clients.world import World
from tests.functional.servers.daemons import Daemons
from tests.functional.servers.one_process import heatconv_all

# A story says what was wrong as a test does.
pytest.register_assert_rewrite(
    "tests.functional.clients.heatclient_stories",
    "tests.functional.clients.heatconv_stories",
    "tests.functional.clients.openstackclient_stories",
    "tests.functional.clients.openstacksdk_stories",
)

SERVICES = ("sqlite", "postgresql")
#: What Heat does not offer unless its operator wants it.
OFFERED = {"enable_stack_adopt": True, "enable_stack_abandon": True}


@pytest.fixture(scope="module")
def sqlite_world(tmp_path_factory, cloud_url):
    directory = tmp_path_factory.mktemp("clients")
    config = directory / "heatconv.conf"
    config.write_text("[DEFAULT]\n" + "".join(f"{name} = {value}\n" for name, value in OFFERED.items()))
    with heatconv_all(directory, cloud_url, "--config-file", str(config)) as url:
        yield World(url, directory)


@pytest.fixture(scope="module")
def postgresql_world(tmp_path_factory, databases, rabbit_url):
    url = databases("postgresql").fresh()
    directory = tmp_path_factory.mktemp("clients")
    with Daemons(
        directory,
        database_url=url,
        transport_url=rabbit_url,
        engines=1,
        workers=1,
        options={"DEFAULT": OFFERED},
    ) as daemons:
        yield World(daemons.endpoint, directory)
    databases("postgresql").drop(url)


@pytest.fixture(scope="module", params=SERVICES)
def service(request):
    return request.param


@pytest.fixture(scope="module")
def world(request, service):
    return request.getfixturevalue(f"{service}_world")


@pytest.fixture
def heat(world):
    auth = noauth.NoAuth(endpoint=world.endpoint)
    return heatclient.Client("1", session=session.Session(auth=auth), service_type="orchestration")


@pytest.fixture
def conn(world):
    with openstack.connect(
        load_yaml_config=False, load_envvars=False, auth_type="none", auth={"endpoint": world.endpoint}
    ) as conn:
        yield conn


class CommandLine:
    """A program that prints JSON when it is asked to."""

    def __init__(self, endpoint: str, directory: Path) -> None:
        self._endpoint = endpoint
        self._directory = directory

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Return the exit code, and what went to standard output and standard error."""
        raise NotImplementedError

    def __call__(self, *arguments):
        return json.loads(self.text(*arguments, "-f", "json"))

    def text(self, *arguments):
        code, out, err = self.run(*arguments)
        assert code == 0, f"{' '.join(arguments)}: {err}"
        return out

    def refused(self, *arguments):
        code, _, err = self.run(*arguments)
        assert code == 1
        return err

    def file(self, name, text):
        path = self._directory / name
        path.write_text(text)
        return str(path)


class OpenStackClient(CommandLine):
    """The program ``openstack``, in this process: to start takes it two seconds."""

    #: Of the process, as for a program: it keeps some that it found when it was loaded.
    STREAMS = {name: io.StringIO() for name in ("stdin", "stdout", "stderr")}

    def run(self, *arguments: str) -> tuple[int, str, str]:
        with as_it_was(), warnings.catch_warnings(action="ignore"), pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith("OS_")]:
                patch.delenv(name)
            patch.setenv("OS_AUTH_TYPE", "none")
            patch.setenv("OS_ENDPOINT", self._endpoint)
            for name, stream in self.STREAMS.items():
                stream.seek(0)
                stream.truncate()
                patch.setattr(sys, name, stream)
            from openstackclient.shell import main  # noqa: PLC0415 - it warns of itself

            code = main(list(arguments))
        return code, self.STREAMS["stdout"].getvalue(), self.STREAMS["stderr"].getvalue()


class Heatconv(CommandLine):
    """The program ``heatconv``, in this process."""

    def run(self, *arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with as_it_was():
            code = heatconv(["--endpoint", self._endpoint, *arguments], out, err)
        return code, out.getvalue(), err.getvalue()


@contextmanager
def as_it_was() -> Iterator[None]:
    """Give the log back to who had it."""
    handlers = list(logging.getLogger("").handlers)
    try:
        yield
    finally:
        logging.getLogger("").handlers[:] = handlers


@pytest.fixture
def osc(world, tmp_path):
    return OpenStackClient(world.endpoint, tmp_path)


@pytest.fixture
def cli(world, tmp_path):
    return Heatconv(world.endpoint, tmp_path)


def pytest_terminal_summary(terminalreporter):
    """Print what each call of each client has come to."""
    ends: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            facts = dict(report.user_properties)
            if "call" in facts:
                end = facts.get("remark", "works") if outcome == "passed" else "FAILS"
                ends[facts["client"], facts["call"]][facts["service"]] = end
    for client in sorted({client for client, _ in ends}):
        rows = {call: end for (of, call), end in ends.items() if of == client}
        services = [one for one in SERVICES if any(one in row for row in rows.values())]
        width = max(map(len, rows))
        terminalreporter.section(client)
        terminalreporter.write_line(" ".join([" " * width, *(f"{one:26}" for one in services)]))
        for call, row in sorted(rows.items()):
            cells = (f"{row.get(one, '-'):26}" for one in services)
            terminalreporter.write_line(" ".join([f"{call:{width}}", *cells]))
