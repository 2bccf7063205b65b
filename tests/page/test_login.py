# SPDX-License-Identifier: Apache-2.0
"""Saying who one is, to a service that asks for it."""

from __future__ import annotations

import json
import os
from contextlib import closing

import bcrypt
import pytest
import requests

from heatconv.client.http import Client
from heatconv.testing.templates import thing
from tests.functional.auth.identity import PASSWORD, keystone
from tests.functional.servers.provision import Unavailable
from tests.page.another import guarded, looking
from tests.page.shop import LONG, SHOP, YAML, create, until

#: A first run installs Keystone.
pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def by_password(driver, tmp_path, cloud_url):
    hashed = bcrypt.hashpw(b"s3cret!", bcrypt.gensalt(4)).decode()
    (tmp_path / "users").write_text(f"alice@web:{hashed}\n")
    config = f"[auth]\nstrategy = http_basic\nhttp_basic_user_file = {tmp_path / 'users'}\n"
    with guarded(tmp_path, cloud_url, config) as endpoint, looking(driver, endpoint) as page:
        yield page


def kept(page):
    return page.driver.execute_script("return [localStorage.length, sessionStorage.length, document.cookie]")


def test_i_log_in_by_name_and_password(by_password):
    page = by_password
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
    assert kept(page) == [0, 0, ""]
    page.press("Log out", "header")
    page.see("Log in", "h1")


@pytest.fixture(scope="module")
def identity(tmp_path_factory):
    """Return a Keystone that knows its administrator."""
    try:
        with keystone(tmp_path_factory.mktemp("keystone")) as found:
            yield found
    except Unavailable as problem:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(problem))


@pytest.fixture(scope="module")
def shop(identity):
    """Return the id of a project with an owner, and with somebody who may only look."""
    project = identity.add_project("shop")
    identity.add_user("owner", "member", project)
    identity.add_user("auditor", "reader", project)
    return project


@pytest.fixture(scope="module")
def guarded_by_keystone(identity, tmp_path_factory, cloud_url):
    directory = tmp_path_factory.mktemp("heatconv")
    config = f"""
[auth]
strategy = keystone
[keystone_authtoken]
www_authenticate_uri = {identity.url}
auth_type = password
auth_url = {identity.url}
username = admin
password = {PASSWORD}
project_name = admin
user_domain_id = default
project_domain_id = default
token_cache_time = -1
[oslo_policy]
policy_file = {directory}/policy.yaml
"""
    (directory / "policy.yaml").write_text('"stacks:global_index": "rule:context_is_admin"\n')
    with guarded(directory, cloud_url, config) as endpoint:
        yield endpoint


@pytest.fixture
def by_keystone(driver, guarded_by_keystone):
    with looking(driver, guarded_by_keystone) as page:
        yield page


@pytest.fixture
def owner(identity, guarded_by_keystone, shop):
    """Return the client of the project's owner."""
    session = requests.Session()
    session.headers["X-Auth-Token"] = identity.token("owner", project="shop")
    url = guarded_by_keystone.replace("/default", f"/{shop}")
    with closing(Client(url, session=session)) as client:
        yield client


def log_in(page, user, project="shop", password=PASSWORD):
    page.driver.get("about:blank")
    page.driver.get(f"http://{page.host}/ui/")
    page.write("#user", user)
    page.write("#password", password)
    page.write("#project", project)
    page.press("Log in", "form")


def tokens_sent(page):
    """Return the tokens that the page has sent since this was asked last."""
    found = []
    for line in page.driver.get_log("performance"):
        message = json.loads(line["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            found.append(message["params"]["request"]["headers"].get("X-Auth-Token"))
    return [each for each in found if each]


def test_i_log_in_at_keystone_and_again_when_my_login_has_ended(by_keystone, identity, shop):
    page = by_keystone
    log_in(page, "owner", password="wrong")
    page.see("Keystone does not let you in", ".reason")
    page.keep("log-in")
    page.write("#password", PASSWORD)
    page.press("Log in", "form")
    page.see("Project shop", "header")
    assert kept(page) == [0, 0, ""]

    page.press("Create a stack")
    page.write("#stack-name", "shop")
    page.write("#template", YAML)
    identity.revoke(tokens_sent(page)[-1])
    page.press("Make a plan")
    page.see("Log in again", "dialog")
    page.keep("log-in-again")
    page.write("dialog #password", PASSWORD)
    page.press("Log in", "dialog")
    page.see("+ 2 create", ".counts")
    assert "A shop." in page.find("#template").get_attribute("value"), "what was written is lost"


def test_i_may_only_look_and_am_offered_nothing_else(by_keystone, owner):
    page = by_keystone
    create(owner, "looked-at", SHOP)
    until(page, owner, "looked-at", "CREATE_COMPLETE")
    log_in(page, "auditor")
    page.press("looked-at", "tbody")
    page.see("Your roles let you look, and change nothing here.", "[aria-label=Actions]")
    page.click_box("web")
    page.see("Your roles let you look", ".panel")
    page.see("w", ".panel .value")
    page.keep("only-looking")
    # By the browser, as a button may be drawn anew between two questions about it.
    labels = "return [...document.querySelectorAll('button')].map((each) => each.innerText.trim())"
    assert not {"Delete…", "Update", "Put right"} & {*page.driver.execute_script(labels)}
    page.press("Log out", "header")
    log_in(page, "owner")
    page.press("looked-at", "tbody")
    page.see("Delete…", "[aria-label=Actions]")


def test_i_run_the_service_and_see_what_is_stuck_where(by_keystone, owner, shop):
    page = by_keystone
    create(owner, "stuck", SHOP.but(database=thing("db", depends_on=["network"], wait=LONG)))
    until(page, owner, "stuck", "CREATE_IN_PROGRESS")
    log_in(page, "admin", project="admin")
    page.press("Service", "header")
    page.see("heatconv-all", "tr.done")
    page.see("alive", "tr.done")
    page.see("Not done or failed, in all projects")
    page.see(shop, "tr.moving")
    page.see("its service is not done", "tr.moving")
    page.keep("the-service")
    assert page.driver.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0
    page.press("stuck", "tr.moving")
    page.see("create in progress", ".title")
    page.see("Delete…", "[aria-label=Actions]")
    owner.delete_stack("stuck")
