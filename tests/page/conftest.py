# SPDX-License-Identifier: Apache-2.0
"""A service with a fake cloud, and a browser that looks at it.

Whatever a test does, the console stays silent, and nobody but the service is asked for anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome

from heatconv.client.http import Client
from heatconv.testing.cloud_client import CloudControl
from tests.functional.conftest import (  # noqa: F401 - fixtures
    databases,
    fresh_database,
    rabbit_url,
    run_daemons,
    servers,
)
from tests.functional.servers.one_process import fake_cloud, heatconv_all
from tests.page import browser
from tests.page.between import Between, standing_between
from tests.page.browser import Page


@pytest.fixture(scope="session")
def cloud_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with fake_cloud(tmp_path_factory.mktemp("cloud")) as url:
        yield url


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory, cloud_url: str) -> Iterator[str]:
    with heatconv_all(tmp_path_factory.mktemp("heatconv-all"), cloud_url) as url:
        yield url


@pytest.fixture(scope="session")
def driver() -> Iterator[Chrome]:
    if not (browser.CHROMIUM.exists() and browser.DRIVER.exists()):
        missing = "chromium and chromium-driver are not installed: bindep.txt has the packages"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    started = browser.start()
    yield started
    started.quit()


@pytest.fixture
def project(request: pytest.FixtureRequest) -> str:
    """Return a project of the test's own."""
    return str(request.node.name).removeprefix("test_").partition("[")[0][:60]


@pytest.fixture
def page(driver: Chrome, endpoint: str, project: str) -> Iterator[Page]:
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get_log("performance")
    seen = Page(driver, endpoint.replace("/default", f"/{project}"))
    yield seen
    seen.keep(project)
    assert seen.complaints() == []
    assert seen.hosts_asked() <= {seen.host}
    seen.emulate()


@pytest.fixture
def between(page: Page) -> Iterator[Between]:
    """Return what stands between the page and the service."""
    with standing_between(page) as standing:
        yield standing


@pytest.fixture
def client(endpoint: str, project: str) -> Iterator[Client]:
    """Return what somebody else uses the service by."""
    with_project = Client(endpoint.replace("/default", f"/{project}"))
    yield with_project
    with_project.close()


@pytest.fixture
def cloud(cloud_url: str) -> Iterator[CloudControl]:
    control = CloudControl(cloud_url)
    yield control
    control.release()
    control.stop_failing()
    control.cloud.close()
