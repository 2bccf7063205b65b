# SPDX-License-Identifier: Apache-2.0
"""Where a program gets the keys from that its database is encrypted with."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from oslo_config import cfg

from heatconv import errors
from heatconv.crypto import Keyring, generate_key
from heatconv.db.plumbing import migration, sealing
from heatconv.db.plumbing.session import Database

KEY_FILE = "heatconv.key"


@contextmanager
def reporting_misconfiguration(prog: str) -> Iterator[None]:
    """End a program with one sentence if its configuration, its keys or its database are missing or wrong."""
    try:
        yield
    except (errors.Misconfigured, errors.NoKey, errors.StorageError) as problem:
        raise SystemExit(f"{prog}: {problem}") from problem


def configured(conf: cfg.ConfigOpts) -> Keyring:
    """Return the keys that the configuration names.

    Raises:
        NoKey: it names none, or one that is too short.
    """
    return _keyring(conf, conf.auth_encryption_key or "")


def fitting(conf: cfg.ConfigOpts) -> Keyring:
    """Return the keys that the configuration names, if the database can be read with them.

    Raises:
        SystemExit: there are none, or they are not the database's; or the database is not
            there, or its schema is of an earlier release.
    """
    with reporting_misconfiguration(conf.prog):
        keyring = configured(conf)
        with closing(Database.from_conf(conf, keyring)) as database:
            migration.check(database)
            sealing.check(database)
    return keyring


def kept_in(directory: Path, conf: cfg.ConfigOpts) -> Keyring:
    """Return the keys that the configuration names, else the one in a directory, made if need be."""
    if conf.auth_encryption_key:
        return configured(conf)
    path = directory / KEY_FILE
    if not path.exists():
        _keep(path, generate_key())
    with suppress(PermissionError):  # it is somebody else's to keep, if it can be read
        path.chmod(0o600)
    return _keyring(conf, path.read_text().strip())


def _keyring(conf: cfg.ConfigOpts, key: str) -> Keyring:
    return Keyring(key, conf.auth_encryption_old_keys, accept_unbound=conf.accept_unbound_values)


def _keep(path: Path, key: str) -> None:
    """Write a key that only we may read, all of it or nothing, on disk when this returns."""
    descriptor, fresh = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{key}\n")
        file.flush()
        os.fsync(descriptor)
    with suppress(FileExistsError):  # another process was faster: its key counts
        os.link(fresh, path)
    Path(fresh).unlink()
    directory = os.open(path.parent, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
