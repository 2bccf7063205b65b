# SPDX-License-Identifier: Apache-2.0
"""A stack of another region, before it is made."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from keystoneauth1.exceptions import EndpointNotFound

from heatconv.model.definition import Definition
from heatconv.openstack.plugins.remote_stack import RemoteStack
from heatconv.resources.facts import StackFacts
from heatconv.resources.validation import problems


class Services:
    """Has an orchestration service in one region."""

    def __init__(self, found):
        self._found = found

    def get_endpoint(self, *, service_type, region_name):
        if region_name != "here":
            raise EndpointNotFound(f"{service_type} is not in {region_name}")
        return self._found


@pytest.mark.parametrize(
    ("region", "found", "why"),
    [
        ("here", "http://heat", None),
        ("gone", "http://heat", "orchestration is not in gone"),
        ("here", None, "there is no endpoint of type orchestration"),
    ],
)
def test_a_region_without_the_service_is_told_in_heats_words_and_where(monkeypatch, region, found, why):
    monkeypatch.setattr(RemoteStack, "is_service_available", lambda _context: (True, None))
    context = SimpleNamespace(keystone_session=Services(found), region_name="there")
    stack = StackFacts(id="1", name="web", project_id="p", context=context)
    properties = {"template": "t", "context": {"region_name": region}}

    wrong = problems(RemoteStack, Definition(name="far", type="T", properties=properties), stack)

    start = f'Cannot establish connection to Heat endpoint at region "{region}" due to "{why}"'
    assert wrong == ([("", f"{start}, see resources.far.properties.context.")] if why else [])
