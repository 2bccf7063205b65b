# SPDX-License-Identifier: Apache-2.0
"""The drill of the how-to: a dump in the middle of something, and hours later its restore."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from heatconv.testing.templates import Template, differences, thing
from tests.chaos.trial import Trial
from tests.functional.restoring import dumping
from tests.functional.servers import nursery
from tests.functional.waiting import until

WANTED = Template(A=thing("a", wait=1), B=thing("b", uses=["A"], wait=1), C=thing("c", uses=["B"], wait=1))
SINCE = Template(A=thing("a"), B=thing("b2", uses=["A"], flavor="large"), D=thing("d"))


def manage(daemons, *arguments):
    command = ["heatconv-manage", "--config-file", daemons.config_file, *arguments]
    return nursery.finish(command, HEATCONV_FAKE_CLOUD=daemons.cloud_url)


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_the_world_comes_to_be_as_the_dump_wants_it(
    run_daemons, databases, fresh_database, rabbit_url, tmp_path, kind
):
    first, second = fresh_database(kind), databases(kind).empty()
    daemons = run_daemons(database_url=first, transport_url=rabbit_url, engines=1, workers=1)
    with closing(Trial(daemons, "web", WANTED)) as trial:
        trial.create()
        trial.wait_until_made(1)
        dumping.dump(first, tmp_path / "dump")  # A is being made, and of the others nobody has begun
        trial.arrive()
        trial.update(SINCE)
        trial.arrive()
        assert "are running" in manage(daemons, "restored").stderr
        for name in [*daemons.processes]:
            daemons.kill(name)

        dumping.restore(tmp_path / "dump", second)
        daemons.configuration["database"]["connection"] = second
        daemons.configure()
        until(lambda: manage(daemons, "restored").returncode == 0)
        for name in [*daemons.processes]:
            daemons.start(name)
        daemons.await_up("api")

        def orphans():
            return json.loads(manage(daemons, "orphans", "-f", "json").stdout)

        def there():
            named = {orphan["physical_id"] for orphan in orphans()}
            return [each for each in trial.cloud.owned("web/") if each["id"] not in named]

        until(lambda: trial.state() == "CREATE_COMPLETE" and not differences(WANTED, there()), there)
        left = {each["id"]: each["owner"] for each in trial.cloud.owned("web/")}
        # What took the place of B, and D, are not in the dump.
        assert sorted(left[orphan["physical_id"]] for orphan in orphans()) == ["web/B", "web/D"]
        assert manage(daemons, "orphans", "-p", "nobody").stdout.endswith("that belong to nothing.\n")
    databases(kind).drop(second)
