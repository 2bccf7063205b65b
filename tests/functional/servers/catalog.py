# SPDX-License-Identifier: Apache-2.0
"""The servers heatconv runs with, and the ways to each."""

from __future__ import annotations

import contextlib
import getpass
import random
import secrets
import socket
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack

import amqp
import sqlalchemy as sa
from fixtures import EnvironmentVariable
from pifpaf.drivers.mysql import MySQLDriver
from pifpaf.drivers.postgresql import PostgreSQLDriver
from pifpaf.drivers.rabbitmq import RabbitMQDriver

from tests.functional.servers.provision import Server

ACCOUNT = f"heatconv_test_{secrets.token_hex(4)}"


def free_port() -> int:
    """Return a port of loopback that nothing listens at.

    It is below those the kernel gives to connections, so that none of them is
    in its place by the time it is used; and RabbitMQ adds 20000 to it.
    """
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


def _connect_to_database(url: str) -> None:
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.connect():
        pass


def _connect_to_bus(url: str) -> None:
    parts = sa.make_url(url)
    connection = amqp.Connection(
        f"{parts.host}:{parts.port}", userid=parts.username, password=parts.password, connect_timeout=5
    )
    connection.connect()
    connection.close()


# -- the superuser's local door --------------------------------------------------------


def _enter_postgresql(until: ExitStack) -> str:
    password = secrets.token_hex(16)
    client = ["runuser", "-u", "postgres", "--", "psql", "--quiet", "--command"]
    subprocess.run(
        [*client, f"CREATE ROLE {ACCOUNT} SUPERUSER LOGIN PASSWORD '{password}'"], check=True, cwd="/"
    )
    until.callback(subprocess.run, [*client, f"DROP ROLE {ACCOUNT}"], check=True, cwd="/")
    return f"postgresql+psycopg2://{ACCOUNT}:{password}@127.0.0.1:5432/postgres"


def _enter_mariadb(until: ExitStack) -> str:
    password = secrets.token_hex(16)
    for host in ("localhost", "127.0.0.1"):
        account = f"{ACCOUNT}@'{host}'"
        allow = f"GRANT ALL ON *.* TO {account} IDENTIFIED BY '{password}' WITH GRANT OPTION"
        subprocess.run(["mariadb", "--execute", allow], check=True)
        until.callback(subprocess.run, ["mariadb", "--execute", f"DROP USER IF EXISTS {account}"], check=True)
    return f"mysql+pymysql://{ACCOUNT}:{password}@127.0.0.1:3306/"


def _enter_rabbitmq(_until: ExitStack) -> str:
    # Its default account is open on loopback wherever it was not closed on purpose.
    return "rabbit://guest:guest@127.0.0.1:5672/"


# -- a private one -------------------------------------------------------------------------


def _private_postgresql(until: ExitStack) -> str:
    server = until.enter_context(PostgreSQLDriver(port=free_port()))
    return f"postgresql+psycopg2://{getpass.getuser()}@/postgres?host={server.tempdir}&port={server.port}"


def _private_mariadb(until: ExitStack) -> str:
    server = until.enter_context(MySQLDriver())
    return f"mysql+pymysql://root@localhost/?unix_socket={server.socket}"


def _private_rabbitmq(until: ExitStack) -> str:
    for variable in ("RABBITMQ_CONFIG_FILE", "RABBITMQ_CONF_ENV_FILE"):
        # The system's own files may say where to listen.
        until.enter_context(EnvironmentVariable(variable, "/nonexistent"))
    server = until.enter_context(
        RabbitMQDriver(port=free_port(), nodename=f"heatconv-{secrets.token_hex(4)}")
    )
    return f"rabbit://{server.username}:{server.password}@127.0.0.1:{server.port}/"


POSTGRESQL = Server(
    name="PostgreSQL",
    binary="/usr/lib/postgresql/*/bin/postgres",
    package="postgresql",
    # It ends with 2 when the cluster runs already.
    start='pg_ctlcluster --skip-systemctl-redirect "$(ls /etc/postgresql)" main start || [ $? -eq 2 ]',
    addresses=(
        "postgresql+psycopg2://postgres@127.0.0.1:5432/postgres",
        "postgresql+psycopg2://postgres:postgres@127.0.0.1:5432/postgres",
        f"postgresql+psycopg2://{getpass.getuser()}@127.0.0.1:5432/postgres",
    ),
    probe=_connect_to_database,
    enter=_enter_postgresql,
    private=_private_postgresql,
)
MARIADB = Server(
    name="MariaDB",
    binary="/usr/sbin/mariadbd",
    package="mariadb-server",
    start="start-stop-daemon --start --oknodo --background --exec /usr/sbin/mariadbd",
    addresses=("mysql+pymysql://root@127.0.0.1:3306/",),
    probe=_connect_to_database,
    enter=_enter_mariadb,
    private=_private_mariadb,
)
RABBITMQ = Server(
    name="RabbitMQ",
    binary="/usr/sbin/rabbitmq-server",
    package="rabbitmq-server",
    start="rabbitmqctl --quiet await_startup --timeout 1 2>&1 || rabbitmq-server -detached",
    addresses=("rabbit://guest:guest@127.0.0.1:5672/",),
    probe=_connect_to_bus,
    enter=_enter_rabbitmq,
    private=_private_rabbitmq,
)

DATABASE_SERVERS: Mapping[str, Server] = {"postgresql": POSTGRESQL, "mariadb": MARIADB}
