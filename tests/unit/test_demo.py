# SPDX-License-Identifier: Apache-2.0
"""Which cloud the tour is taken in, and what it says where there is none."""

from __future__ import annotations

import pytest
from rich.console import Console

from tools.demo import main
from tools.demo_cloud import named_by
from tools.tour import NotAsExpectedError, Tour


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({"OS_CLOUD": "mine"}, "mine"),
        ({"OS_CLOUD": "mine", "OS_AUTH_URL": "http://cloud/v3"}, "mine"),
        ({"OS_AUTH_URL": "http://cloud/v3"}, "envvars"),
    ],
)
def test_the_cloud_is_the_one_that_is_named_or_else_that_of_an_openrc(environment, name):
    assert named_by(environment) == name


def test_no_cloud_is_told_from_a_cloud_without_a_name():
    with pytest.raises(NotAsExpectedError, match="There is no cloud: set OS_CLOUD"):
        named_by({"OS_CLOUD": "", "OS_USERNAME": "me"})


def test_where_there_is_no_cloud_one_sentence_says_so(monkeypatch, capsys):
    for name in ("OS_CLOUD", "OS_AUTH_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.argv", ["tools/demo", "--cloud"])

    assert main() == 1

    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("✗ There is no cloud: set OS_CLOUD to the name of one in your clouds.yaml")


def test_a_cloud_that_nobody_described_is_told_by_its_name(monkeypatch, capsys, tmp_path):
    (tmp_path / "clouds.yaml").write_text("clouds: {}")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    monkeypatch.setenv("OS_CLOUD", "nowhere")
    monkeypatch.setattr("sys.argv", ["tools/demo", "--cloud"])

    assert main() == 1

    assert "✗ The cloud nowhere cannot be used: Cloud nowhere was not found." in capsys.readouterr().out


def test_the_page_is_where_the_tour_has_its_stacks():
    assert Tour("http://127.0.0.1:8004/v1/default", Console()).page == "http://127.0.0.1:8004/ui/#/default"
