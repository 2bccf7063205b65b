# SPDX-License-Identifier: Apache-2.0
"""The WSGI application on a fake engine."""

from __future__ import annotations

import pytest
from falcon import testing
from oslo_config import cfg

from heatconv import conf as options
from heatconv.api import deploy
from heatconv.rpc.engine_client import EngineClient
from tests.unit.api.fake_engine import FakeEngine


@pytest.fixture
def engine():
    return FakeEngine()


@pytest.fixture
def conf():
    conf = cfg.ConfigOpts()
    options.register(conf)
    conf([])
    conf.set_override("max_json_body_size", 2000, "api")
    conf.set_override("allowed_hosts", ["falconframework.org"], "api")
    return conf


@pytest.fixture
def api(engine, conf):
    return testing.TestClient(deploy.application(EngineClient(engine), conf))
