# SPDX-License-Identifier: Apache-2.0
"""Which resources are said to have failed."""

from __future__ import annotations

import pytest

from heatconv.cli.stack_failures import failures
from heatconv.client.http import Client, ClientError


class Answers(Client):
    """A client of a service that has these stacks, and no other."""

    def __init__(self, **stacks):
        super().__init__("http://nowhere.example")
        self.stacks = stacks

    def list_resources(self, stack, query=None):
        assert query == {"status": "FAILED"}
        if stack not in self.stacks:
            raise ClientError(404, "EntityNotFound", "There is no such stack.")
        return self.stacks[stack]


def failed(name, nested=None):
    links = [{"rel": "nested", "href": f"http://heat/v1/p/stacks/n/{nested}"}] if nested else []
    return {"resource_name": name, "links": links}


def test_a_nested_stack_is_told_by_what_failed_inside():
    client = Answers(top=[failed("a"), failed("b", "inner")], inner=[failed("c", "innermost")], innermost=[])
    assert [one["path"] for one in failures(client, "top")] == ["a", "b.c"]


def test_a_nested_stack_that_was_never_made_is_told_itself():
    assert [one["path"] for one in failures(Answers(top=[failed("a", "gone")]), "top")] == ["a"]


def test_a_stack_that_is_not_there_is_no_stack_without_failures():
    with pytest.raises(ClientError, match="no such stack"):
        list(failures(Answers(), "top"))
