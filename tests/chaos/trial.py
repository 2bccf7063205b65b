# SPDX-License-Identifier: Apache-2.0
"""A stack that is put through something: did it arrive, with each thing made once?"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator

from heatconv.client.http import Client, ClientError
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.templates import Template, differences, thing
from tests.chaos.driver import NOT_NOW
from tests.functional.servers.daemons import Daemons

LOOK = 0.2  #: seconds between two looks
GONE = 404
SHOWN = 20  #: problems that are told in full


def layered(width: int, depth: int, *, wait: float) -> Template:
    """Return chains beside each other, each thing using the one before it, that take their time."""
    return Template(
        **{
            f"r{chain}x{place}": thing("v", uses=[f"r{chain}x{place - 1}"] if place else (), wait=wait)
            for place in range(depth)
            for chain in range(width)
        }
    )


class Trial:
    """One stack of a running heatconv."""

    def __init__(self, daemons: Daemons, name: str, template: Template) -> None:
        self.name = name
        self.template = template
        self.client = Client(daemons.endpoint)
        self.cloud = CloudControl(daemons.cloud_url)
        self._daemons = daemons
        self._action = "CREATE"

    def create(self) -> None:
        """Ask for the stack."""
        self.client.create_stack({"stack_name": self.name, "template": self.template.hot()})

    def update(self, template: Template) -> None:
        """Ask for something else."""
        self.client.update_stack(self.name, {"template": template.hot()})
        self.template = template
        self._action = "UPDATE"

    def delete(self) -> None:
        """Ask for nothing."""
        self.client.delete_stack(self.name)
        self.template = Template()

    def created(self) -> Counter[str]:
        """Return how often the cloud made the thing of each resource."""
        made = (entry for entry in self.cloud.audit() if entry.op == "create" and entry.succeeded)
        return Counter(
            entry.owner.partition("/")[2] for entry in made if entry.owner.startswith(f"{self.name}/")
        )

    def wait_until_made(self, count: int) -> None:
        """Wait until the cloud has carried out so many operations in all."""
        while not self.cloud.wait_for(count, timeout=10, done=True):
            pass

    def state(self) -> str:
        """Return the stack's state; "" while nobody can tell, "GONE" if there is none."""
        try:
            return str(self.client.show_stack(self.name, resolve_outputs=False)["stack_status"])
        except ClientError as error:
            if error.status == GONE:
                return "GONE"
            if error.status not in NOT_NOW:
                raise
            return ""

    def arrive(self) -> float:
        """Wait until the stack is as was asked for last; return the seconds that took.

        Raises:
            AssertionError: it failed instead.
        """
        begun = time.monotonic()
        while (now := self.state()) != f"{self._action}_COMPLETE":
            assert not now.endswith("FAILED"), f"{self.name} is {now}\n{self._daemons.logs()}"
            threading.Event().wait(LOOK)
        return time.monotonic() - begun

    def vanish(self) -> None:
        """Wait until a stack that was deleted is gone.

        Raises:
            AssertionError: its deletion failed instead.
        """
        while (now := self.state()) not in ("GONE", "DELETE_COMPLETE"):
            assert not now.endswith("FAILED"), f"{self.name} is {now}\n{self._daemons.logs()}"
            threading.Event().wait(LOOK)

    def problems(self) -> list[str]:
        """Return what is wrong with a stack that has arrived, and of which nothing was to be replaced."""
        return [*self._problems()][:SHOWN]

    def _problems(self) -> Iterator[str]:
        yield from differences(self.template, self.cloud.owned(f"{self.name}/"))
        for name, count in self.created().items():
            if count != 1:
                yield f"{name} was made {count} times"
        if not self.template:
            return
        for event in self.client.list_events(self.name, {"resource_status": "FAILED"}):
            yield f"{event['resource_name']} failed: {event['resource_status_reason']}"

    def close(self) -> None:
        """Close the connections."""
        self.client.close()
        self.cloud.cloud.close()
