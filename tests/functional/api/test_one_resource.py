# SPDX-License-Identifier: Apache-2.0
"""A resource shown alone, of rows as they are in each database: who requires it, and what it tells."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from heatconv.db.convergence import resources
from heatconv.engine.resource_reads import ResourceReads
from heatconv.resources.heat.test_resource import TestResource
from heatconv.resources.registry import Registry
from heatconv.rpc.context import RequestContext
from tests.functional.api.planted import PROJECT, Planted

CONTEXT = RequestContext(project_id=PROJECT)


def test_it_is_required_by_what_is_wanted_to_require_it(database):
    rows = Planted()
    web = rows.stack("web")
    rows.resource(web, "net")
    rows.resource(web, "made", requires=("net",))
    rows.resource(web, "to be made", requires=("net",), made_with=(), applied=None, applied_sha1=None)
    rows.resource(web, "made of another", requires=("net",), made_with=(), applied_sha1="")
    rows.resource(web, "not any more", applied_sha1="", made_with=("net",))
    rows.resource(web, "on its way out", requires=("net",), wanted=False)
    rows.resource(web, "other")
    of_other = rows.stack("other")
    rows.resource(of_other, "net")
    rows.resource(of_other, "foreign", requires=("net",))
    rows.write(database)

    assert resources.requirers(database, web, "net") == ["made", "made of another", "to be made"]


def test_it_is_required_by_what_was_made_with_the_row_before(database):
    rows = Planted()
    web = rows.stack("web")
    rows.resource(web, "net", wanted=False)
    rows.resource(web, "server", requires=("net",))
    rows.resource(web, "net")
    rows.write(database)

    assert resources.requirers(database, web, "net") == ["server"]


def test_what_was_made_without_it_is_not_opened(database):
    rows = Planted()
    web = rows.stack("web")
    rows.resource(web, "net")
    rows.resource(web, "server", requires=("net",))
    rows.resource(web, "spoilt")
    rows.write(database)
    with database.engine.begin() as connection:
        connection.execute(sa.text("UPDATE resource SET desired = '{' WHERE name = 'spoilt'"))

    assert resources.requirers(database, web, "net") == ["server"]


@pytest.mark.parametrize("detail", [True, False])
def test_nobody_is_asked_for_attributes_that_are_not_wanted(database, monkeypatch, detail):
    rows = Planted()
    web = rows.stack("web")
    rows.resource(web, "server", attributes={})
    rows.write(database)
    asked = []
    monkeypatch.setattr(TestResource, "get_attribute", lambda _self, name: asked.append(name))
    reads = ResourceReads(database, Registry.load(), lambda _stack, _name: "")

    shown = reads.show_resource(CONTEXT, web, "server", attributes=["more"], detail=detail)

    assert asked == (["output", "more"] if detail else [])
    assert list(shown["attributes"]) == asked
    assert shown["physical_id"] == "physical-server"
