# SPDX-License-Identifier: Apache-2.0
"""A resource with a state, whose keeper holds what it learned in memory."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from heatconv.model.definition import Definition
from heatconv.model.states import Action, Status
from heatconv.resources.facts import Incarnation, StackFacts
from heatconv.resources.resource import Resource
from tests.driving import drive


@dataclass
class MemoryKeeper:
    physical_id: str | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def set_physical_id(self, physical_id):
        self.physical_id = physical_id

    def set_data(self, data):
        self.data = dict(data)

    def set_metadata(self, metadata):
        self.metadata = dict(metadata)

    def get_metadata(self):
        return self.metadata

    def forget_attributes(self):
        pass


@pytest.fixture
def keeper():
    return MemoryKeeper()


@pytest.fixture
def stack():
    return StackFacts(id=str(uuid.uuid4()), name="web", project_id="p")


@pytest.fixture
def served(stack):
    """Return a function that gives the stack clients of one's own."""

    def serve(clients):
        context = SimpleNamespace(
            project_id=stack.project_id, clients=clients, endpoints={}, stack_users=None
        )
        return replace(stack, context=context)

    return serve


@pytest.fixture
def make(stack, keeper):
    """Return a function that makes a resource of a class, attached."""

    def make_one(
        cls: type[Resource],
        properties: Mapping[str, Any] | None = None,
        *,
        facts: StackFacts = stack,
        action: Action = Action.INIT,
        status: Status = Status.COMPLETE,
        **definition: Any,
    ) -> Any:
        wanted = Definition(name="server", type="T", properties=properties or {}, **definition)
        resource = cls("server", wanted, facts)
        state = Incarnation(
            id=str(uuid.uuid4()),
            physical_id=keeper.physical_id,
            data=keeper.data,
            metadata=keeper.metadata,
            action=action,
            status=status,
        )
        drive(resource).attach(state, keeper)
        return resource

    return make_one
