# SPDX-License-Identifier: Apache-2.0
"""Somebody on the network read what daemons, bus and database tell each other, and sent messages too.

The how-to's files are what is tested here: with this machine's places in them they make a bus
and a database that speak TLS only, and a heatconv that believes no other.
"""

from __future__ import annotations

import configparser
import sys
from contextlib import ExitStack, closing

import amqp
import pytest
import sqlalchemy as sa

from heatconv.client.http import Client
from tests.functional.servers.certificates import Authority
from tests.functional.servers.processes import Process
from tests.functional.servers.secured import (
    EXAMPLES,
    SecuredMariaDB,
    SecuredPostgreSQL,
    SecuredRabbitMQ,
    example,
)
from tests.functional.waiting import until

DATABASES = {"postgresql": SecuredPostgreSQL, "mariadb": SecuredMariaDB}

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"), "ours")


@pytest.fixture(scope="module")
def other_authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"), "theirs")


@pytest.fixture(scope="module")
def started():
    """Start a server, until the end of the module."""
    with ExitStack() as until_end:

        def start(server):
            until_end.callback(server.stop)
            server.start()
            return server

        yield start


@pytest.fixture(scope="module")
def bus(started, authority, tmp_path_factory):
    return started(SecuredRabbitMQ(tmp_path_factory.mktemp("bus"), authority))


@pytest.fixture(scope="module")
def database(started, authority, tmp_path_factory):
    made = {}

    def of_kind(kind):
        if kind not in made:
            made[kind] = started(DATABASES[kind](tmp_path_factory.mktemp(kind), authority))
        return made[kind]

    return of_kind


def options(bus, trusted, database=None):
    """The how-to's configuration, by group, with this machine's places in it."""
    text = example(
        "heatconv.conf", {"bus.example.org:5671": bus.place, "/etc/heatconv/ca.pem": str(trusted.file)}
    )
    if isinstance(database, SecuredMariaDB):
        text = text.replace("connection = postgresql", "# ").replace(
            "# connection = mysql", "connection = mysql"
        )
        text = text.replace("db.example.org:3306", database.place)
    elif database:
        text = text.replace("db.example.org:5432", database.place)
    parser = configparser.RawConfigParser(default_section="-", inline_comment_prefixes=None)
    parser.read_string(text)
    return {group: dict(parser[group]) for group in parser.sections()}


def written(groups, file):
    file.write_text(
        "\n".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in its.items())
            for group, its in groups.items()
        )
    )
    return file


@pytest.mark.parametrize("kind", DATABASES)
def test_a_stack_is_made_with_every_connection_encrypted(run_daemons, bus, database, authority, kind):
    server = database(kind)
    groups = options(bus, authority, server)
    url = groups["database"].pop("connection")
    transport = groups["DEFAULT"].pop("transport_url")
    daemons = run_daemons(database_url=url, transport_url=transport, engines=1, workers=1, options=groups)
    with closing(Client(daemons.endpoint)) as client:
        resources = {"r": {"type": "OS::Heat::RandomString"}}
        client.create_stack(
            {
                "stack_name": "secret",
                "template": {"heat_template_version": "2021-04-16", "resources": resources},
            }
        )
        until(lambda: client.show_stack("secret")["stack_status"] == "CREATE_COMPLETE", daemons.logs)

    users = [line.split("\t") for line in bus.control("list_connections", "user", "ssl").splitlines()[1:]]
    assert users
    assert all(each == ["heatconv", "true"] for each in users), users
    assert server.unencrypted() == 0


@pytest.mark.parametrize("kind", DATABASES)
def test_a_database_of_another_authority_is_not_believed(bus, database, authority, other_authority, kind):
    for trusted in (authority, other_authority):
        engine = sa.create_engine(options(bus, trusted, database(kind))["database"]["connection"])
        if trusted is authority:
            engine.connect().close()
        else:
            with pytest.raises(sa.exc.OperationalError, match="certificate verify failed"):
                engine.connect()
        engine.dispose()


@pytest.mark.parametrize("kind", DATABASES)
def test_a_database_speaks_with_nobody_in_the_clear(bus, database, authority, kind):
    url = sa.make_url(options(bus, authority, database(kind))["database"]["connection"])
    clear = url.set(query={"sslmode": "disable"} if kind == "postgresql" else {})
    with pytest.raises(sa.exc.OperationalError) as refused:
        sa.create_engine(clear, connect_args={"ssl_disabled": True} if kind == "mariadb" else {}).connect()
    assert any(
        words in str(refused.value) for words in ("no encryption", "insecure transport", "Access denied")
    )


def test_a_database_has_to_have_the_name_that_it_was_asked_by(bus, database, authority):
    """An authority signs for others as well."""
    url = sa.make_url(options(bus, authority, database("postgresql"))["database"]["connection"])
    other = url.set(host="elsewhere.example.org").update_query_dict({"hostaddr": "127.0.0.1"})
    with pytest.raises(sa.exc.OperationalError, match=r"elsewhere\.example\.org"):
        sa.create_engine(other).connect()


SEND = """
import sys
from heatconv import conf as configuration
from heatconv.rpc.bus import ENGINE_TOPIC, Bus
conf = configuration.load(["--config-file", sys.argv[1]], prog="heatconv-api")
Bus(conf).client(ENGINE_TOPIC).cast({}, "nothing")
print("it was sent", flush=True)
"""


def sent(groups, tmp_path):
    """Tell what becomes of a message to engines, as a daemon sends it; nobody has to be there to take it."""
    file = written(groups, tmp_path / "heatconv.conf")
    process = Process([sys.executable, "-c", SEND, str(file)], tmp_path / "log")
    try:
        return process.wait_for(r"it was sent|Connection failed: .*|is unreachable: .*")[0]
    finally:
        process.kill()


def test_a_bus_of_another_authority_is_not_believed(bus, authority, other_authority, tmp_path):
    assert sent(options(bus, authority), tmp_path) == "it was sent"
    assert "certificate verify failed" in sent(options(bus, other_authority), tmp_path)


def test_a_bus_has_to_have_the_name_that_it_was_asked_by(bus, authority, tmp_path):
    groups = options(bus, authority)
    port = bus.place.partition(":")[2]
    # Loopback by a name that the certificate does not have.
    groups["DEFAULT"]["transport_url"] = f"rabbit://heatconv:BUS_SECRET@127.1:{port}/heatconv"

    assert "certificate verify failed" in sent(groups, tmp_path)


def test_the_bus_speaks_with_nobody_in_the_clear(bus, authority, tmp_path):
    groups = options(bus, authority)
    groups["oslo_messaging_rabbit"]["ssl"] = "false"

    assert sent(groups, tmp_path) != "it was sent"


@pytest.mark.parametrize(
    ("user", "password", "vhost", "may"),
    [
        ("heatconv", "BUS_SECRET", "heatconv", True),
        ("heatconv", "BUS_SECRET", "notifications", True),
        ("telemetry", "TELEMETRY_SECRET", "notifications", True),
        ("telemetry", "TELEMETRY_SECRET", "heatconv", False),
        ("guest", "guest", "heatconv", False),
        ("guest", "guest", "/", False),
        ("heatconv", "guess", "heatconv", False),
    ],
)
def test_nobody_else_may_publish_to_the_daemons(bus, authority, user, password, vhost, may):
    connection = amqp.Connection(
        bus.place,
        userid=user,
        password=password,
        virtual_host=vhost,
        ssl={"ca_certs": str(authority.file), "server_hostname": "127.0.0.1"},
        connect_timeout=60,
    )
    if may:
        with connection:
            connection.channel().queue_declare("anything")
    else:
        with pytest.raises((amqp.exceptions.AccessRefused, amqp.exceptions.NotAllowed)):
            connection.connect()


def test_the_how_to_shows_what_is_tested():
    text = EXAMPLES.with_name("secure-an-installation.rst").read_text()
    for file in EXAMPLES.iterdir():
        assert f".. literalinclude:: tls/{file.name}" in text
