# SPDX-License-Identifier: Apache-2.0
"""The live page of a large stack in headless Chromium: ``python -m tests.perf.page --resources 10000``.

A stack is created and opened at once; again when it is complete.  It has ``--resources`` in a hundred layers,
each of which takes ``--wait-secs``; or, with ``--groups``, so many groups that share the resources.  Printed
are the seconds until the first marks are there, each request of that time with when it began, its seconds and
its bytes, the percent of a core that all processes of the browser take in ``--seconds`` of the creation, and,
for changes of a resource of the stack and for changes of a member of a group, how long after the answer to a
change the page shows it, with what the page asked for meanwhile.  Takes ``--database`` and ``--transport``,
and needs what ``./tools/test -e page`` has.
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
from tests.perf.bench import Bench
from tests.perf.deployment import Measured
from tests.perf.large import of_groups
from tests.perf.machine import facts

LAYERS = 100
CHANGES = 6
LOOK = 0.02  #: seconds from one look at the browser to the next
PATIENCE = 600.0
BEGINS_WITH = {
    f"stacks/{each}" for each in ("changes", "events", "picture", "explanation")
}  #: asked for when it is opened

#: What the page has asked for since it was opened, without its own files.
_ASKED = """
return performance.getEntriesByType('resource').filter((each) => each.name.includes('/v1/')).map((each) => ({
  what: new URL(each.name).pathname.split('/').slice(3).filter((_part, at) => at !== 1 && at !== 2).join('/'),
  began: each.startTime / 1000, seconds: each.duration / 1000, bytes: each.encodedBodySize}));
"""

Record = dict[str, Any]


def layered(count: int, wait_secs: float) -> Record:
    """Return a template of so many resources in a hundred layers; each needs one of the layer before."""
    width = max(1, count // LAYERS)
    resources: dict[str, Record] = {}
    for number in range(count):
        properties = {"value": "x", "wait_secs": wait_secs}
        one: Record = {"type": "OS::Heat::TestResource", "properties": properties}
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
    asked: list[Record] = []
    while not BEGINS_WITH.issubset(each["what"] for each in asked):
        if time.monotonic() - began > PATIENCE:
            raise SystemExit("the page has not all that it begins with")
        time.sleep(LOOK)
        asked += asked_for(page)
    return {
        "first_marks_seconds": round(seconds, 2),
        "asked": asked,
        "bytes": sum(each["bytes"] for each in asked),
        "load_before": round(load, 2),
    }


def asked_for(page: Page) -> list[Record]:
    """Return what the page has been answered since it was opened, or since this was last called."""
    asked: list[Record] = page.driver.execute_script(_ASKED)
    page.driver.execute_script("performance.clearResourceTimings()")
    for each in asked:
        each.update(began=round(each["began"], 2), seconds=round(each["seconds"], 2))
    return asked


def worked(page: Page) -> float:
    """Return the seconds that the processes of the browser have worked, those that have ended left out."""
    driver = psutil.Process(page.driver.service.process.pid)
    spent = 0.0
    for each in driver.children(recursive=True):
        times = each.cpu_times()
        spent += times.user + times.system
    return spent


def while_it_goes_on(page: Page, bench: Bench, stack_id: str, seconds: float) -> Record:
    """Return what the browser takes while a stack is created, up to some seconds of it."""
    began, before = time.monotonic(), worked(page)
    while time.monotonic() - began < seconds and bench.is_in_progress(stack_id):
        time.sleep(0.5)
    passed = time.monotonic() - began
    percent = 100 * (worked(page) - before) / passed
    return {"creating_seconds": round(passed, 1), "browser_percent_of_a_core": round(percent, 1)}


def seen_after(page: Page, client: Client, stack: str, resource: str, look: str) -> Record:
    """Return how long after the answer to a change of a resource the page shows it, where a look finds it."""
    asked_for(page)
    took = []
    for number in range(CHANGES):
        unhealthy = number % 2 == 0
        client.mark_resource(stack, resource, unhealthy=unhealthy, reason="a measurement")
        began = time.monotonic()
        while page.driver.execute_script(look) is not unhealthy:
            if time.monotonic() - began > PATIENCE:
                raise SystemExit("a change is not shown")
            time.sleep(LOOK)
        took.append(round(time.monotonic() - began, 2))
    return {"seen_seconds": sorted(took), "median": statistics.median(took), "asked": asked_for(page)}


def seen_inside(page: Page, client: Client, stack: str, group: str) -> Record:
    """Return how long after the answer to a change of a group's member the panel of the group shows it."""
    shown = client.show_stack(stack)
    page.open("stacks", stack, shown["id"], "resources", group)
    page.wait(lambda: page.all(".inside li"), "what is in a group is to be seen")
    nested = client.show_stack(client.show_resource(stack, group)["physical_resource_id"])
    look = "return document.querySelector('.inside .badge.broken') !== null"
    return seen_after(page, client, nested["stack_name"], "0", look)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--resources", type=int, default=10000)
    parser.add_argument("--groups", type=int, default=0, help="that share the resources; 0: none")
    parser.add_argument("--wait-secs", type=float, default=0, help="what each layer takes, without groups")
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    first, template = "r0", layered(arguments.resources, arguments.wait_secs)
    if arguments.groups:
        members = arguments.resources // arguments.groups
        first, template = "g0", of_groups(arguments.groups, members, members)
    servers = {"database_url": arguments.database, "transport_url": arguments.transport}
    with (
        tempfile.TemporaryDirectory(prefix="heatconv-perf-") as directory,
        Measured(Path(directory), **servers, engines=1, workers=2) as daemons,
    ):
        client, bench = Client(daemons.endpoint), Bench(daemons, arguments.database)
        driver = browser.start()
        try:
            page = Page(driver, daemons.endpoint)
            # What any browser has after the first visit: the files of the page.
            driver.get(f"http://{urlsplit(daemons.endpoint).netloc}/ui/")
            name = f"large-{time.time_ns()}"
            client.create_stack({"stack_name": name, "template": template})
            stack_id = client.show_stack(name)["id"]
            report.say({"when": "creating", **first_marks(page, name, stack_id)})
            report.say({"when": "creating", **while_it_goes_on(page, bench, stack_id, arguments.seconds)})
            page.driver.get("about:blank")  # what follows is for the daemons alone
            while bench.is_in_progress(stack_id):
                time.sleep(0.5)
            report.say({"when": "complete", **first_marks(page, name, stack_id)})
            box = f"return document.querySelector('.box.broken[data-key=\"={first}\"]') !== null"
            report.say({"of": "a resource", **seen_after(page, client, name, first, box)})
            if arguments.groups:
                report.say({"of": "a member", **seen_inside(page, client, name, first)})
        finally:
            driver.quit()
            bench.close()
            client.close()


if __name__ == "__main__":
    main()
