# SPDX-License-Identifier: Apache-2.0
"""A service that is configured as a test wants it, and the browser that looks at it."""

from __future__ import annotations

from contextlib import contextmanager

from tests.functional.servers.one_process import heatconv_all
from tests.page.browser import Page


@contextmanager
def looking(driver, endpoint):
    """Look at a service that has not known us at first."""
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get_log("performance")
    seen = Page(driver, endpoint)
    seen.expected = ["401 (Unauthorized)", "503 (Service Unavailable)"]
    yield seen
    assert seen.complaints() == []
    assert seen.hosts_asked() <= {seen.host}


@contextmanager
def guarded(directory, cloud_url, config):
    """Run a service with a configuration."""
    (directory / "heatconv.conf").write_text(config)
    with heatconv_all(directory, cloud_url, "--config-file", str(directory / "heatconv.conf")) as endpoint:
        yield endpoint
