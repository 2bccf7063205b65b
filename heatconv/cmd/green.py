# SPDX-License-Identifier: Apache-2.0
"""Whether this process runs on green threads, decided before anything else is imported.

The ``executor`` option is looked up by hand, since oslo.config itself imports
what has to be patched.  ``HEATCONV_EXECUTOR`` wins over the file.
"""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Sequence

DEFAULT_FILE = "/etc/heatconv/heatconv.conf"


def executor(args: Sequence[str]) -> str:
    """Return the executor that the environment, a configuration file, or the default names."""
    named = os.environ.get("HEATCONV_EXECUTOR")
    if named:
        return named
    parser = configparser.RawConfigParser(strict=False, default_section="-")
    parser.read(_files(args) or [DEFAULT_FILE])
    return parser.get("DEFAULT", "executor", fallback="threading")


def patch(args: Sequence[str] | None = None) -> str:
    """Monkey-patch the process if it is to run on green threads; return the executor's name."""
    chosen = executor(sys.argv[1:] if args is None else args)
    if chosen == "eventlet":
        import eventlet  # noqa: PLC0415 - nothing may be imported before it is known what to patch

        eventlet.monkey_patch()
    else:
        stay_native()
    return chosen


def stay_native() -> None:
    """Keep eventlet's resolver of names out of a process that has no green threads to look them up in.

    oslo.messaging imports eventlet whichever the executor is, and eventlet that resolver, with a
    hundred and fifty modules of dnspython.
    """
    os.environ.setdefault("EVENTLET_NO_GREENDNS", "yes")


def check_driver(chosen: str, url: str) -> None:
    """Make sure that a database's driver lets other green threads run while it waits.

    One that does not can stop a process on a row lock that the same process
    holds in another green thread.

    Raises:
        SystemExit: the driver of the URL blocks.
    """
    if chosen != "eventlet":
        return
    driver = url.partition(":")[0]
    if driver in ("postgresql", "postgresql+psycopg2"):
        from eventlet.support import psycopg2_patcher  # noqa: PLC0415 - eventlet may not be imported else

        psycopg2_patcher.make_psycopg_green()
    elif driver not in ("mysql+pymysql", "mariadb+pymysql"):
        sys.exit(
            f"The database driver {driver} blocks green threads: use mysql+pymysql or postgresql+psycopg2,"
            " or set executor = threading."
        )


def _files(args: Sequence[str]) -> list[str]:
    files = []
    for position, argument in enumerate(args):
        name, equals, value = argument.partition("=")
        if name == "--config-file":
            files.append(value if equals else "".join(args[position + 1 : position + 2]))
    return files
