# SPDX-License-Identifier: Apache-2.0
"""The program against a real HTTP server of the API, which has a fake engine."""

from __future__ import annotations

import io
import json
import logging
from dataclasses import dataclass

import pytest
from oslo_config import cfg

from heatconv import conf as options
from heatconv.api import deploy
from heatconv.cli.main import main
from heatconv.rpc.engine_client import EngineClient
from tests.unit.api.fake_engine import FakeEngine
from tests.unit.cli.http_server import serving


@pytest.fixture
def engine():
    return FakeEngine()


@pytest.fixture
def endpoint(engine):
    conf = cfg.ConfigOpts()
    options.register(conf)
    conf([])
    with serving(deploy.application(EngineClient(engine), conf)) as url:
        yield url


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def run(endpoint, monkeypatch):
    monkeypatch.setenv("HEATCONV_ENDPOINT", endpoint)

    def run(*arguments, terminal=False):
        stream = Terminal if terminal else io.StringIO
        out, err = stream(), stream()
        before = list(logging.getLogger("").handlers)
        try:
            code = main(arguments, out, err)
        except SystemExit as usage:
            code = int(str(usage.code))
        finally:
            logging.getLogger("").handlers[:] = before
        return Ran(code, out.getvalue(), err.getvalue())

    return run
