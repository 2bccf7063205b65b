# SPDX-License-Identifier: Apache-2.0
"""The program against a real HTTP server of the API, which has a fake engine."""

from __future__ import annotations

import io
import json
import logging
import threading
from dataclasses import dataclass
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
from oslo_config import cfg

from heatconv import conf as options
from heatconv.api import deploy
from heatconv.cli.main import main
from heatconv.rpc.engine_client import EngineClient
from tests.unit.api.fake_engine import FakeEngine


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    def log_message(self, *_arguments):
        pass


@pytest.fixture
def engine():
    return FakeEngine()


@pytest.fixture
def endpoint(engine):
    conf = cfg.ConfigOpts()
    options.register(conf)
    conf([])
    app = deploy.application(EngineClient(engine), conf)
    with make_server("127.0.0.1", 0, app, server_class=_Server, handler_class=_Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1/default"
        server.shutdown()
        thread.join()


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
