# SPDX-License-Identifier: Apache-2.0
"""Configuration: what an operator can set, one module per option group.

Options are registered on a configuration that is handed in; there is no global one, so that two
daemons fit in one process and a test needs no clean-up.  Options of libraries are registered by
whoever owns the library: ``heatconv.db`` those of oslo.db, ``heatconv.rpc`` those of
oslo.messaging.

Begin with ``default``.  Three modules have no group of heatconv's: ``cors`` has options of
oslo.middleware and ``logs`` those of oslo.log, with our defaults, and ``sample`` gives these
defaults to oslo-config-generator.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib import metadata

from oslo_config import cfg
from oslo_log import log

from heatconv.conf import (
    api,
    auth,
    default,
    engine,
    event_sinks,
    logs,
    metrics,
    observer,
    plans,
    purge,
    stack_domain,
    worker,
    yaql,
)

LOG = logging.getLogger(__name__)

GROUPS = (
    default,
    stack_domain,
    api,
    auth,
    engine,
    event_sinks,
    metrics,
    observer,
    plans,
    purge,
    worker,
    yaql,
)


def register(conf: cfg.ConfigOpts) -> None:
    """Register every option of heatconv; doing so twice changes nothing."""
    for group in GROUPS:
        conf.register_opts(group.OPTS, group=group.GROUP)


def list_opts() -> list[tuple[str | None, list[cfg.Opt]]]:
    """Return every option of heatconv by group, for oslo-config-generator."""
    return [(group.GROUP, list(group.OPTS)) for group in GROUPS]


def load(
    args: Sequence[str],
    *,
    prog: str,
    default_config_files: list[str] | None = None,
    cli_opts: Sequence[cfg.Opt] = (),
) -> cfg.ConfigOpts:
    """Return the configuration of a program, and set up its logging.

    Files are read from ``--config-file``, else from ``default_config_files``,
    else from where oslo.config looks (``/etc/heatconv/heatconv.conf``).
    ``cli_opts`` are the program's own command line options.

    Raises:
        SystemExit: a file cannot be read, or a value is not allowed.
    """
    version = metadata.version("heatconv")
    logs.set_defaults()
    conf = cfg.ConfigOpts()
    log.register_options(conf)
    register(conf)
    conf.register_cli_opts(cli_opts)
    try:
        conf(
            list(args),
            project="heatconv",
            prog=prog,
            version=version,
            default_config_files=default_config_files,
        )
        # Standard output is for what a program answers; oslo.log would write to it.
        conf.set_default("use_stderr", not (conf.log_file or conf.log_dir))
        _check(conf)
    except cfg.Error as problem:
        raise SystemExit(f"{prog}: {problem}") from problem
    log.setup(conf, prog, version)
    logs.say_no_more(conf, prog, version)
    return conf


def reload(conf: cfg.ConfigOpts) -> None:
    """Read the configuration files again; the options that may change while a program runs do.

    Files that cannot be read leave all options as they were.  What is wrong is logged, with them or with
    the file that they name for the log.
    """
    try:
        conf.mutate_config_files()
    except SystemExit:
        # Of a value of an option that the command line has too, oslo.config informs standard error alone.
        LOG.warning("the configuration cannot be read: standard error has the value that is not allowed")
    except (cfg.Error, log.LogConfigError, OSError, UnicodeError) as problem:
        LOG.warning("the configuration cannot be read: %s", problem)


def _check(conf: cfg.ConfigOpts) -> None:
    # oslo.config parses a value when it is first asked for: ask now, not in the middle of some work.
    for group, options in list_opts():
        for option in options:
            (conf[group] if group else conf)[option.dest]
