# SPDX-License-Identifier: Apache-2.0
"""Private servers that speak TLS only, configured as the how-to says."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import sqlalchemy as sa

from tests.functional.servers.catalog import free_port
from tests.functional.servers.certificates import Authority
from tests.functional.servers.private import PrivateMariaDB, PrivatePostgreSQL, PrivateRabbitMQ
from tests.functional.servers.processes import Process

EXAMPLES = Path(__file__).parents[3] / "doc/source/howto/tls"
PASSWORD = "DB_SECRET"


def example(name: str, replaced: Mapping[str, str]) -> str:
    """Return a file of the how-to with this machine's places in it, each of which it has."""
    text = (EXAMPLES / name).read_text()
    for theirs, ours in replaced.items():
        assert theirs in text, f"{name} has no {theirs}"
        text = text.replace(theirs, ours)
    return text


class SecuredRabbitMQ(PrivateRabbitMQ):
    """RabbitMQ with the users of the how-to; ``place`` is where it listens."""

    def __init__(self, directory: Path, authority: Authority) -> None:
        super().__init__(directory)
        files = authority.issue("bus")
        port = free_port()
        self.place = f"127.0.0.1:{port}"
        config = directory / "rabbitmq.conf"
        config.write_text(
            example(
                "rabbitmq.conf",
                {
                    "default = 5671": f"default = {self.place}",
                    "/etc/rabbitmq/ca.pem": str(authority.file),
                    "/etc/rabbitmq/cert.pem": str(files.certificate),
                    "/etc/rabbitmq/key.pem": str(files.key),
                },
            )
        )
        for name in ("RABBITMQ_NODE_PORT", "RABBITMQ_NODE_IP_ADDRESS"):
            del self._environment[name]  # they would open another door
        self._environment |= {"RABBITMQ_CONFIG_FILE": str(config), "RABBITMQ_DIST_PORT": str(free_port())}

    def start(self) -> None:
        """See PrivateServer."""
        super().start()
        for line in (EXAMPLES / "rabbitmq-users.sh").read_text().splitlines():
            if not line.startswith("#"):
                program, *arguments = shlex.split(line)
                assert program == "rabbitmqctl"
                self.control(*arguments)

    def control(self, *arguments: str) -> str:
        """Run rabbitmqctl; return what it says."""
        command = [str(Path(self._server).with_name("rabbitmqctl")), "--quiet", *arguments]
        environment = os.environ | self._environment
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


class SecuredPostgreSQL(PrivatePostgreSQL):
    """PostgreSQL with the user of the how-to."""

    def __init__(self, directory: Path, authority: Authority) -> None:
        super().__init__(directory)
        self.place = f"127.0.0.1:{self._port}"
        data = directory / "data"
        files = authority.issue("postgresql")
        for name, file in (("cert.pem", files.certificate), ("key.pem", files.key)):
            shutil.copy(file, data / name)
            (data / name).chmod(0o600)
        places = {f"/etc/postgresql/{name}": str(data / name) for name in ("cert.pem", "key.pem")}
        config = data / "postgresql.conf"
        config.write_text(config.read_text() + example("postgresql.conf", places))
        (data / "pg_hba.conf").write_text(example("pg_hba.conf", {" peer": " trust"}))
        if os.geteuid() == 0:
            for file in (data / "cert.pem", data / "key.pem"):
                shutil.chown(file, "postgres", "postgres")

    def start(self) -> None:
        """See PrivateServer."""
        super().start()
        door = sa.create_engine(
            f"postgresql+psycopg2://postgres@/postgres?host={self._directory}&port={self._port}",
            isolation_level="AUTOCOMMIT",
        )
        with door.connect() as connection:
            connection.exec_driver_sql(f"CREATE ROLE heatconv LOGIN PASSWORD '{PASSWORD}'")
            connection.exec_driver_sql("CREATE DATABASE heatconv OWNER heatconv")
        door.dispose()

    def unencrypted(self) -> int:
        """Return how many of its users' connections over the network are not encrypted."""
        door = sa.create_engine(
            f"postgresql+psycopg2://postgres@/postgres?host={self._directory}&port={self._port}"
        )
        with door.connect() as connection:
            found = connection.exec_driver_sql(
                "SELECT count(*) FILTER (WHERE NOT ssl), count(*) FROM pg_stat_ssl"
                " JOIN pg_stat_activity USING (pid) WHERE usename = 'heatconv'"
            ).one()
        door.dispose()
        assert found[1] > 0, "nobody is connected"
        return int(found[0])


class SecuredMariaDB(PrivateMariaDB):
    """MariaDB with the user of the how-to."""

    def __init__(self, directory: Path, authority: Authority) -> None:
        super().__init__(directory)
        self.place = f"127.0.0.1:{sa.make_url(self.url).port}"
        files = authority.issue("mariadb")
        places = {
            "/etc/mysql/ca.pem": str(authority.file),
            "/etc/mysql/cert.pem": str(files.certificate),
            "/etc/mysql/key.pem": str(files.key),
        }
        self._file = directory / "mariadb.cnf"
        self._file.write_text(example("mariadb.cnf", places))
        self._door = f"mysql+pymysql://root@/?unix_socket={directory}/socket"

    def start(self) -> None:
        """See PrivateServer."""
        listen = [*self._where, "--bind-address=127.0.0.1"]
        command = [self._server, f"--defaults-file={self._file}", *listen]
        self._process = Process(command, self._directory / "log")
        self._process.wait_for("ready for connections")
        door = sa.create_engine(self._door, isolation_level="AUTOCOMMIT")
        with door.connect() as connection:
            connection.exec_driver_sql("CREATE DATABASE heatconv CHARACTER SET utf8mb4")
            connection.exec_driver_sql(f"CREATE USER heatconv IDENTIFIED BY '{PASSWORD}' REQUIRE SSL")
            connection.exec_driver_sql("GRANT ALL ON heatconv.* TO heatconv")
        door.dispose()

    def unencrypted(self) -> int:
        """Return how many of its users may connect without encryption over the network."""
        door = sa.create_engine(self._door)
        with door.connect() as connection:
            found = connection.exec_driver_sql("SELECT @@require_secure_transport").scalar_one()
        door.dispose()
        return 0 if found else 1
