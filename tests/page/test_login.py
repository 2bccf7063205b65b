# SPDX-License-Identifier: Apache-2.0
"""Saying who one is, to a service that asks for it."""

from __future__ import annotations

import bcrypt
import pytest

from tests.functional.servers.one_process import heatconv_all
from tests.page.browser import Page


@pytest.fixture
def page(driver, tmp_path, cloud_url):
    hashed = bcrypt.hashpw(b"s3cret!", bcrypt.gensalt(4)).decode()
    (tmp_path / "users").write_text(f"alice@web:{hashed}\n")
    (tmp_path / "heatconv.conf").write_text(
        f"[auth]\nstrategy = http_basic\nhttp_basic_user_file = {tmp_path / 'users'}\n"
    )
    with heatconv_all(tmp_path, cloud_url, "--config-file", str(tmp_path / "heatconv.conf")) as endpoint:
        driver.get("about:blank")
        driver.get_log("browser")
        driver.get_log("performance")
        seen = Page(driver, endpoint)
        seen.expected = ["401 (Unauthorized)"]
        yield seen
        assert seen.complaints() == []
        assert seen.hosts_asked() <= {seen.host}


def test_i_log_in_by_name_and_password(page):
    page.driver.get(f"http://{page.host}/ui/")
    page.see("Log in", "h1")
    page.write("#user", "alice@web")
    page.write("#password", "wrong")
    page.press("Log in", "form")
    page.see("the password of a user", ".reason")
    page.write("#password", "s3cret!")
    page.press("Log in", "form")
    page.see("There are no stacks yet.")
    page.see("Project web", "header")
    kept = page.driver.execute_script("return [localStorage.length, sessionStorage.length, document.cookie]")
    assert kept == [0, 0, ""]
    page.press("Log out", "header")
    page.see("Log in", "h1")
