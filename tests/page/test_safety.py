# SPDX-License-Identifier: Apache-2.0
"""What a user has written is read, and never run; what others' pages do does not reach ours."""

from __future__ import annotations

import http.server
import threading

import pytest

from tests.page.shop import create, stack_page, until

SCRIPTS = (
    "<script>window.ran = 1</script>",
    "<img src=x onerror='window.ran = 1'>",
    "\"><svg onload='window.ran = 1'>",
    "javascript:window.ran=1",
)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_in_whatever_a_user_can_write_does_not_run(page, client, script):
    name = f"s{SCRIPTS.index(script)}"
    failing = {"type": "OS::Heat::TestResource", "properties": {"value": script, "fail": True}}
    fine = {"type": "OS::Heat::TestResource", "description": script, "properties": {"value": script}}
    template = {
        "heat_template_version": "2021-04-16",
        "description": script,
        "resources": {"fine": fine, "a <b onclick=x>": fine, "failing": {**failing, "depends_on": "fine"}},
        "outputs": {
            "shown": {"description": script, "value": {"get_attr": ["fine", "output"]}},
            "it": {"value": script},
        },
    }
    create(client, name, template, tags=script)
    until(page, client, name, "CREATE_FAILED")
    client.mark_resource(name, "fine", unhealthy=True, reason=script)

    page.open()
    page.see(script[:20], "tbody")
    stack_page(page, client, name, "resources", "fine")
    page.see(script, ".panel .reason")
    page.see(script, ".outputs")
    page.see(script, ".events")
    page.press("Show the attributes", ".panel")
    page.see(script, ".panel dl")
    page.press("Update")
    page.wait(lambda: "fine" in page.find("#template").get_attribute("value"), "the template is to be there")
    assert page.driver.execute_script("return window.ran") is None
    assert page.all("main script, main img, main iframe") == []


def test_another_page_cannot_have_ours_inside(page, endpoint):
    """A user who presses what seems to be something else presses nothing of ours."""
    with elsewhere(f"<iframe src='http://{page.host}/ui/'></iframe>") as url:
        page.driver.get(url)
        frame = page.find("iframe")
        page.driver.switch_to.frame(frame)
        assert page.all("#top") == []
        page.driver.switch_to.default_content()
        assert any("frame-ancestors" in line["message"] for line in page.driver.get_log("browser"))
    page.driver.get("about:blank")
    page.driver.get_log("performance")


def test_another_page_cannot_act_in_our_name(page, client, endpoint):
    """Even where nobody has to log in, what a page from elsewhere sends is refused."""
    create(client, "shop", {"heat_template_version": "2021-04-16", "resources": {}})
    until(page, client, "shop", "CREATE_COMPLETE")
    place = f"http://{page.host}/v1/{page.project}/stacks/shop/{client.show_stack('shop')['id']}/actions"
    sent = "{method: 'POST', mode: 'no-cors', body: '{\"check\": null}'}"
    script = f"fetch('{place}', {sent}).finally(() => document.title = 'sent')"
    with elsewhere(f"<script>{script}</script>") as url:
        page.driver.get(url)
        page.wait(lambda: page.driver.title == "sent", "it is to be sent")
    page.driver.get("about:blank")
    page.driver.get_log("browser")
    page.driver.get_log("performance")
    assert client.show_stack("shop")["stack_status"] == "CREATE_COMPLETE"


class elsewhere:  # noqa: N801 - read as a phrase
    """A page of somebody else, of another origin."""

    def __init__(self, text: str) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(f"<!doctype html><link rel=icon href='data:,'>{text}".encode())

            def log_message(self, *_said: object) -> None:
                """Say nothing."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> str:
        self._thread.start()
        return f"http://127.0.0.1:{self._server.server_port}/"

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
