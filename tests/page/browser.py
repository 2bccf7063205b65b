# SPDX-License-Identifier: Apache-2.0
"""A browser, as the tests of the page use it: what can be seen and done, and what must never happen."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

PATIENCE = 30  #: seconds in which something is seen that is to be seen
SCREENSHOTS = "HEATCONV_SCREENSHOTS"

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")

_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--lang=en-US",
    "--window-size=1440,1000",
)


def start() -> webdriver.Chrome:
    """Start a headless Chromium that keeps a log of what its pages say, and of what they ask for."""
    options = webdriver.ChromeOptions()
    for flag in _FLAGS:
        options.add_argument(flag)
    options.binary_location = str(CHROMIUM)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))


class Page:
    """The page in a browser, seen by somebody who looks at it."""

    def __init__(self, driver: webdriver.Chrome, endpoint: str) -> None:
        """Take a browser and the URL of a project."""
        self.driver = driver
        parts = urlsplit(endpoint)
        self.host = parts.netloc
        self.project = parts.path.rsplit("/", 1)[1]
        self.expected: list[str] = []  #: what the console may say, by a part of it

    def open(self, *path: str) -> None:
        """Go to an address of the page, as by a bookmark."""
        self.driver.get("about:blank")
        self.driver.get(f"http://{self.host}/ui/#/{'/'.join((self.project, *path))}")

    def wait(self, look: Callable[[], Any], why: str) -> Any:
        """Return the first thing that a look finds; what is being drawn anew is looked for anew."""
        waiting = WebDriverWait(
            self.driver, PATIENCE, poll_frequency=0.05, ignored_exceptions=[StaleElementReferenceException]
        )
        try:
            return waiting.until(lambda _driver: look())
        except TimeoutException:
            raise AssertionError(f"{why}; there is: {self.text()}") from None

    def text(self) -> str:
        """Return all that can be read."""
        return str(self.driver.find_element(By.TAG_NAME, "body").text)

    def all(self, selector: str) -> list[WebElement]:
        """Return what a CSS selector finds."""
        return list(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def see(self, text: str, within: str = "body") -> WebElement:
        """Wait until a text can be read in some part; return that part."""

        def look() -> WebElement | None:
            return next((each for each in self.all(within) if text in each.text), None)

        found: WebElement = self.wait(look, f"'{text}' is to be seen in {within}")
        return found

    def find(self, selector: str) -> WebElement:
        """Wait for something that a CSS selector finds and that can be seen."""

        def look() -> WebElement | None:
            return next((each for each in self.all(selector) if each.is_displayed()), None)

        found: WebElement = self.wait(look, f"{selector} is to be seen")
        return found

    def read(self, selector: str) -> str:
        """Return what can be read in what a CSS selector finds, once it can be seen."""
        (text,) = self.wait(lambda: [self.find(selector).text], f"{selector} is to be read")
        return str(text)

    def click(self, selector: str) -> None:
        """Click on what a CSS selector finds; on what has come in its place if it was just drawn anew."""

        def put() -> bool:
            self.find(selector).click()
            return True

        self.wait(put, f"{selector} is to be clicked")

    def press(self, label: str, within: str = "body") -> None:
        """Press a button, or follow a link, by what is written on it, once what is around it is drawn."""

        def look() -> bool:
            being_drawn = self.all("[aria-busy=true] :is(button, a, summary)")
            for each in self.all(f"{within} :is(button, a, summary)"):
                can_be_pressed = each.is_displayed() and each.is_enabled() and each not in being_drawn
                if each.text.strip() == label and can_be_pressed:
                    each.click()
                    return True
            return False

        self.wait(look, f"'{label}' is to be pressed in {within}")

    def write(self, selector: str, text: str) -> None:
        """Write into a field in place of what is there."""

        def put() -> bool:
            field = self.find(selector)
            field.clear()
            field.send_keys(text)
            return True

        self.wait(put, f"{selector} is to be written into")

    def type(self, *keys: str) -> None:
        """Type, wherever the keyboard is."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def tab_to(self, selector: str) -> WebElement:
        """Press Tab until the keyboard is at something."""
        for _ in range(60):
            self.type(Keys.TAB)
            here = self.driver.switch_to.active_element
            if here in self.all(selector):
                return here
        raise AssertionError(f"{selector} cannot be reached by Tab")

    def box(self, name: str) -> WebElement:
        """Wait for the box of a resource in the graph."""
        return self.find(_box(name))

    def click_box(self, name: str) -> None:
        """Click on the box of a resource in the graph."""
        self.click(_box(name))

    def kind_of(self, name: str) -> str:
        """Return how a resource is drawn."""
        classes = str(self.box(name).get_attribute("class")).split()
        (kind,) = set(classes) - {"box", "selected", "found"}
        return kind

    def becomes(self, name: str, kind: str) -> None:
        """Wait until a resource is drawn in some way."""
        self.wait(lambda: self.kind_of(name) == kind, f"{name} is to be {kind}")

    def keep(self, name: str) -> None:
        """Keep a picture of what can be seen, if anybody asked for one."""
        if os.environ.get(SCREENSHOTS):
            directory = Path(os.environ[SCREENSHOTS])
            directory.mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(str(directory / f"{name}.png"))

    def emulate(self, **features: str) -> None:
        """Have the reader's system say something, such as that it is dark."""
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": named})

    def complaints(self) -> list[str]:
        """Return what the console says that it should not: errors, and what the policy had to refuse."""
        said = [f"{line['level']} {line['message']}" for line in self.driver.get_log("browser")]
        return [line for line in said if not any(each in line for each in self.expected)]

    def hosts_asked(self) -> set[str]:
        """Return the hosts that the page has asked for anything."""
        asked = set()
        for line in self.driver.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = urlsplit(message["params"]["request"]["url"])
                if url.scheme not in ("about", "data", "chrome"):
                    asked.add(url.netloc)
        return asked


def _box(name: str) -> str:
    return f'.box[data-key="={name}"]'
