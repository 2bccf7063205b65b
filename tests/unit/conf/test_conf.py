# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import logging

import pytest
from oslo_config import cfg

from heatconv import conf


@pytest.fixture(autouse=True)
def logging_as_it_was():
    """Loading a configuration sets up the process's logging; undo that."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    for handler in set(root.handlers) - set(handlers):
        root.removeHandler(handler)
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)


def load(*args, **kwargs):
    return conf.load(args, prog="heatconv-test", default_config_files=[], **kwargs)


def test_nothing_has_to_be_configured():
    loaded = load()

    assert (loaded.api.host, loaded.api.port) == ("127.0.0.1", 8004)
    assert loaded.executor == "threading"
    assert loaded.max_resources_per_stack == 100_000
    assert loaded.worker.threads > loaded.engine.threads


def test_a_file_is_read_and_the_command_line_adds_the_program_s_own_options(tmp_path):
    path = tmp_path / "heatconv.conf"
    path.write_text("[DEFAULT]\nplugin_dirs = /a,/b\n[api]\nport = 0\n")

    loaded = load("--config-file", str(path), "--state-dir", "/c", cli_opts=[cfg.StrOpt("state-dir")])

    assert loaded.plugin_dirs == ["/a", "/b"]
    assert loaded.api.port == 0
    assert loaded.state_dir == "/c"


@pytest.mark.parametrize(
    ("group", "line"),
    [
        ("DEFAULT", "executor = asyncio"),
        ("DEFAULT", "heartbeat_interval = 0"),
        ("DEFAULT", "max_stacks_per_tenant = -2"),
        ("api", "port = 99999"),
        ("worker", "threads = 0"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_by_the_option_s_name(tmp_path, group, line):
    path = tmp_path / "heatconv.conf"
    path.write_text(f"[{group}]\n{line}\n")

    with pytest.raises(SystemExit, match=line.partition(" ")[0]):
        load("--config-file", str(path))


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(SystemExit, match="/nowhere"):
        load("--config-file", "/nowhere/heatconv.conf")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[DEFAULT\n", "Failed to parse"),
        (b"[DEFAULT]\ndebug = maybe\n", "standard error"),
        (b"[DEFAULT]\ndebug = \xff\n", "'utf-8' codec"),
        (b"[DEFAULT]\ndebug = true\nlog_config_append = /nowhere/log\n", "Error loading"),
        (None, "Failed to find"),
    ],
)
def test_files_that_cannot_be_read_again_change_nothing(tmp_path, capfd, content, reason):
    path = tmp_path / "heatconv.conf"
    path.write_text("[DEFAULT]\ndebug = true\n")
    loaded = load("--config-file", str(path))
    path.unlink() if content is None else path.write_bytes(content)

    conf.reload(loaded)

    assert loaded.debug is True
    assert f"the configuration cannot be read: {reason}" in capfd.readouterr().err


def test_two_configurations_do_not_touch_each_other(tmp_path):
    path = tmp_path / "heatconv.conf"
    path.write_text("[api]\nport = 1\n")

    first, second = load("--config-file", str(path)), load()

    assert (first.api.port, second.api.port) == (1, 8004)


def test_the_log_goes_to_standard_error_until_a_file_is_named(capfd, tmp_path):
    load()
    logging.getLogger("heatconv").info("here")
    load("--log-file", str(tmp_path / "log"))
    logging.getLogger("heatconv").info("there")

    printed = capfd.readouterr()
    assert printed.out == ""
    assert "here" in printed.err
    assert "there" not in printed.err
    assert "there" in (tmp_path / "log").read_text()


def test_libraries_are_quiet_and_we_are_not():
    load()

    assert logging.getLogger("heatconv").isEnabledFor(logging.INFO)
    assert not logging.getLogger("kombu").isEnabledFor(logging.INFO)
