# SPDX-License-Identifier: Apache-2.0
"""The live page of a large stack in headless Chromium: ``python -m tests.perf.page --resources 10000``.

A stack of a hundred layers is created and opened at once; again when it is complete.  Printed are the seconds
until the first marks are there, each request of that time with when it began, its seconds and its bytes, the
percent of a core that all processes of the browser take in ``--seconds`` of the creation, and how long after
the answer to a change the page shows it.  Takes ``--database`` and ``--transport``, and needs what
``./tools/test -e page`` has.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from heatconv.client.http import Client
from tests.page import browser
from tests.page.browser import Page
from tests.perf import report
from tests.perf.deployment import Measured
from tests.perf.machine import facts

LAYERS = 100
CHANGES = 6
LOOK = 0.02  #: seconds from one look at the browser to the next
PATIENCE = 600.0

#: What the page has asked for since it was opened, without its own files.
_ASKED = """
return performance.getEntriesByType('resource').filter((each) => each.name.includes('/v1/')).map((each) => ({
  what: new URL(each.name).pathname.split('/').slice(3).filter((_part, at) => at !== 1 && at !== 2).join('/'),
  began: each.startTime / 1000, seconds: each.duration / 1000, bytes: each.encodedBodySize}));
"""

Record = dict[str, Any]


def layered(count: int) -> Record:
    """Return a template of so many resources in a hundred layers; each needs one of the layer before."""
    width = max(1, count // LAYERS)
    resources: dict[str, Record] = {}
    for number in range(count):
        one: Record = {"type": "OS::Heat::TestResource", "properties": {"value": "x"}}
        if number >= width:
            one["depends_on"] = [f"r{number - width}"]
        resources[f"r{number}"] = one
    return {"heat_template_version": "2021-04-16", "resources": resources}


def first_marks(page: Page, name: str, stack_id: str) -> Record:
    """Open the page of a stack; return what it took until there were marks."""
    page.driver.get("about:blank")
    load = os.getloadavg()[0]
    began = time.monotonic()
    page.driver.get(f"http://{page.host}/ui/#/{page.project}/stacks/{name}/{stack_id}")
    while not page.driver.execute_script("return document.querySelectorAll('.box').length"):
        if time.monotonic() - began > PATIENCE:
            raise SystemExit("the page shows no mark")
        time.sleep(LOOK)
    seconds = time.monotonic() - began
    asked = page.driver.execute_script(_ASKED)
    for each in asked:
        each.update(began=round(each["began"], 2), seconds=round(each["seconds"], 2))
    return {"first_marks_seconds": round(seconds, 2), "asked": asked, "load_before": round(load, 2)}


def worked(page: Page) -> float:
    """Return the seconds that the processes of the browser have worked, those that have ended left out."""
    driver = psutil.Process(page.driver.service.process.pid)
    spent = 0.0
    for each in driver.children(recursive=True):
        times = each.cpu_times()
        spent += times.user + times.system
    return spent


def while_it_goes_on(page: Page, client: Client, name: str, seconds: float) -> Record:
    """Return what the browser takes while a stack is created, up to some seconds of it."""
    began, before = time.monotonic(), worked(page)
    while time.monotonic() - began < seconds:
        time.sleep(0.5)
        if client.show_stack(name)["stack_status"] != "CREATE_IN_PROGRESS":
            break
    passed = time.monotonic() - began
    percent = 100 * (worked(page) - before) / passed
    return {"creating_seconds": round(passed, 1), "browser_percent_of_a_core": round(percent, 1)}


def seen_after(page: Page, client: Client, name: str, resource: str) -> Record:
    """Return how long after the answer to a change the page shows it."""
    box = f"document.querySelector('.box[data-key=\"={resource}\"]')"
    look = f"return {box}?.classList.contains('broken') ?? false"
    took = []
    for number in range(CHANGES):
        unhealthy = number % 2 == 0
        client.mark_resource(name, resource, unhealthy=unhealthy, reason="a measurement")
        began = time.monotonic()
        while page.driver.execute_script(look) is not unhealthy:
            if time.monotonic() - began > PATIENCE:
                raise SystemExit("a change is not shown")
            time.sleep(LOOK)
        took.append(round(time.monotonic() - began, 2))
    return {"seen_seconds": sorted(took), "median": statistics.median(took)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--resources", type=int, default=10000)
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    servers = {"database_url": arguments.database, "transport_url": arguments.transport}
    with (
        tempfile.TemporaryDirectory(prefix="heatconv-perf-") as directory,
        Measured(Path(directory), **servers, engines=1, workers=2) as daemons,
    ):
        client = Client(daemons.endpoint)
        driver = browser.start()
        try:
            page = Page(driver, daemons.endpoint)
            # What any browser has after the first visit: the files of the page.
            driver.get(f"http://{urlsplit(daemons.endpoint).netloc}/ui/")
            name = f"large-{time.time_ns()}"
            client.create_stack({"stack_name": name, "template": layered(arguments.resources)})
            stack_id = client.show_stack(name)["id"]
            report.say({"when": "creating", **first_marks(page, name, stack_id)})
            report.say({"when": "creating", **while_it_goes_on(page, client, name, arguments.seconds)})
            while client.show_stack(name)["stack_status"] == "CREATE_IN_PROGRESS":
                time.sleep(0.5)
            report.say({"when": "complete", **first_marks(page, name, stack_id)})
            report.say({"when": "complete", **seen_after(page, client, name, "r0")})
        finally:
            driver.quit()
            client.close()


if __name__ == "__main__":
    main()
