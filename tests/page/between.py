# SPDX-License-Identifier: Apache-2.0
"""What stands between the page and its service, such as a proxy: it refuses, and holds answers back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from tests.page.browser import Page

_STAND = """
const passOn = window.fetch;
const held = (window.held = []);
window.refused = REFUSED;
window.holding = null;
window.release = () => held.splice(0).forEach((go) => go());
window.fetch = async (url, options) => {
  const status = Object.entries(window.refused).find(([part]) => String(url).includes(part))?.[1];
  const message = "there is nobody behind this proxy";
  if (status) return new Response(JSON.stringify({ error: { message } }), { status });
  const isHeld = window.holding !== null && String(url).includes(window.holding);
  const answer = await passOn(url, options);
  if (isHeld) await new Promise((go) => held.push(go));
  return answer;
};
"""


class Between:
    """A proxy, as whoever runs it has it behave."""

    def __init__(self, page: Page) -> None:
        """Stand before the pages that are opened from now on."""
        self._page = page
        self._driver = page.driver
        self._script: str | None = None
        self._stand({})

    def refuse(self, part: str, status: int) -> None:
        """Answer with an error whatever is asked for at addresses with such a part."""
        self._stand({part: status})

    def pass_on(self) -> None:
        """Refuse nothing any more."""
        self._stand({})

    def hold(self, part: str) -> None:
        """Keep the answers back to what is asked for at addresses with such a part, from now on."""
        self._driver.execute_script("window.holding = arguments[0]", part)

    def hold_no_more(self) -> None:
        """Pass on at once what is asked for from now on, once there is something that is kept back."""
        self._page.wait(
            lambda: self._driver.execute_script("return window.held.length"), "something is to be kept back"
        )
        self._driver.execute_script("window.holding = null")

    def release(self) -> None:
        """Pass on what was kept back, and let the page take it."""
        self._driver.execute_async_script("window.release(); setTimeout(arguments[0], 100)")

    def leave(self) -> None:
        """Stand before no page any more."""
        if self._script is not None:
            self._command("Page.removeScriptToEvaluateOnNewDocument", identifier=self._script)
            self._script = None

    def _stand(self, refused: dict[str, int]) -> None:
        self.leave()
        source = _STAND.replace("REFUSED", json.dumps(refused))
        self._script = self._command("Page.addScriptToEvaluateOnNewDocument", source=source)["identifier"]
        self._driver.execute_script("window.refused = arguments[0]", refused)

    def _command(self, name: str, **arguments: str) -> dict[str, str]:
        return dict(self._driver.execute_cdp_cmd(name, arguments))


@contextmanager
def standing_between(page: Page) -> Iterator[Between]:
    """Have something stand between a page and its service for a while."""
    between = Between(page)
    try:
        yield between
    finally:
        between.leave()
