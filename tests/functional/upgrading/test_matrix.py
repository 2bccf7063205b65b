# SPDX-License-Identifier: Apache-2.0
"""Daemons of the last release and of this one work together, in whichever way they are mixed.

One deployment is upgraded and taken back, daemon by daemon, so that there is each mixture once; the
first is that of the old daemons with the new schema.  In each, a stack that the mixture before made is
changed and deleted, and another one is made.
"""

from __future__ import annotations

import itertools

import pytest

from heatconv.client.http import Client, ClientError
from heatconv.cmd.upgrades import described
from heatconv.rpc import versions
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.templates import Template, attr, differences, thing
from tests.functional.servers import last_release
from tests.functional.servers.mixed import NEW, OLD, Mixed
from tests.functional.waiting import until

DAEMONS = ("api", "engine-1", "worker-1")
MADE = Template(
    a=thing("1"), b=thing(attr("a"), uses=["a"]), c=thing("3", uses=["b"], wait=0.2), d=thing("4")
)
CHANGED = MADE.but(a=thing("2"), e=thing("5", uses=["c"])).without("d")


def mixtures():
    """Return the release of each daemon in each mixture; from one to the next, one daemon is replaced."""
    numbers = [number ^ number >> 1 for number in range(2 ** len(DAEMONS))]
    return [tuple((OLD, NEW)[number >> place & 1] for place in (2, 1, 0)) for number in numbers]


@pytest.fixture(scope="module")
def upgraded(databases, rabbit_url, tmp_path_factory):
    """A deployment of the last release, with a stack, of which the schema was brought to this one's."""
    directory = tmp_path_factory.mktemp("mixed")
    old = last_release.unpack(tmp_path_factory.mktemp("last-release"))
    on = databases("postgresql")
    url = on.empty()
    daemons = Mixed(directory, old=old, database_url=url, transport_url=rabbit_url, engines=1, workers=1)
    with daemons:
        world = World(daemons)
        assert world.at() == last_release.SCHEMA
        world.make()
        done = daemons.manage("db_sync")
        assert done.returncode == 0, done.stderr
        yield world
        world.close()
    on.drop(url)


class World:
    """What the mixtures hand on: the daemons, and the stack that was made last."""

    def __init__(self, daemons):
        self.daemons = daemons
        self._client = Client(daemons.endpoint)
        self._cloud = CloudControl(daemons.cloud_url)
        self._numbers = itertools.count()
        self._name = ""

    def at(self):
        return self.daemons.manage("db_version").stdout.strip()

    def mix(self, releases):
        for name, release in zip(DAEMONS, releases, strict=True):
            if self.daemons.releases[name] != release:
                self.daemons.replace(name, release)

    def are_shown(self, releases):
        """Tell whether heatconv-manage shows who is up, and what all of them understand."""
        said = self.daemons.manage("status").stdout.splitlines()
        for name, release in zip(DAEMONS[1:], releases[1:], strict=True):
            binary = f"heatconv-{name.partition('-')[0]}"
            made_from, version = described(last_release.EDITION), versions.BASE
            if release == NEW:
                made_from, version = said[0].removeprefix("this release: "), versions.CURRENT
            line = f"understood by all of {binary}: messages of version {version}"
            if not {f"up: 1 {binary}, {made_from}", line} <= set(said):
                return False
        return True

    def make(self):
        """Make a stack and look at what there is."""
        self._name = f"stack{next(self._numbers)}"
        self._client.create_stack({"stack_name": self._name, "template": MADE.hot()})
        self._arrive("CREATE_COMPLETE")
        assert differences(MADE, self._owned()) == []

    def change(self):
        """Change the stack that was made before and look at what there is."""
        self._client.update_stack(self._name, {"template": CHANGED.hot()})
        self._arrive("UPDATE_COMPLETE")
        assert differences(CHANGED, self._owned()) == []

    def delete(self):
        """Delete it; in the end, each thing was made once, and deleted once."""
        self._client.delete_stack(self._name)
        until(self._is_gone, self.daemons.logs)
        assert self._owned() == []
        done = [
            (each.op, each.owner) for each in self._cloud.audit() if each.owner.startswith(f"{self._name}/")
        ]
        for name in {*MADE, *CHANGED}:
            for op in ("create", "delete"):
                assert done.count((op, f"{self._name}/{name}")) == 1, (op, name, done)

    def close(self):
        self._client.close()
        self._cloud.cloud.close()

    def _arrive(self, status):
        def look():
            now = self._client.show_stack(self._name, resolve_outputs=False)["stack_status"]
            assert not now.endswith("FAILED"), self.daemons.logs()
            return now == status

        until(look, self.daemons.logs)

    def _is_gone(self):
        try:
            return self._client.show_stack(self._name)["stack_status"] == "DELETE_COMPLETE"
        except ClientError as error:
            return error.status == 404

    def _owned(self):
        return self._cloud.owned(f"{self._name}/")


@pytest.mark.parametrize("releases", mixtures(), ids="-".join)
def test_api_engine_and_worker_of_any_two_releases_work_together(upgraded, releases):
    upgraded.mix(releases)
    until(lambda: upgraded.are_shown(releases), upgraded.daemons.logs)

    upgraded.change()
    upgraded.delete()
    upgraded.make()
