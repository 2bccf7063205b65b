# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from heatconv import errors
from heatconv.resources.context import Context
from heatconv.resources.promises import Promises
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource


class Loader:
    """Something that can be loaded, and how often it was."""

    def __init__(self, value):
        self.value = value
        self.loaded = 0

    def __call__(self):
        self.loaded += 1
        return self.value


def test_a_promise_is_there_by_name_and_loaded_once_when_it_is_taken():
    load = Loader("b")
    names = Promises({"a": "A"})
    names.promise({"b": load})

    assert (sorted(names), len(names), "b" in names, load.loaded) == (["a", "b"], 2, True, 0)
    assert (names["b"], names.get("b"), names.get("c"), load.loaded) == ("b", "b", None, 1)


def test_what_is_there_stays_whatever_is_promised():
    load = Loader("other")
    names = Promises({"a": "A"})
    names.promise({"a": load, "b": load})
    names.update(b="B")

    assert (dict(names), load.loaded) == ({"a": "A", "b": "B"}, 0)


def test_what_was_deleted_is_not_promised_any_more():
    names = Promises()
    names.promise({"a": Loader("A")})
    del names["a"]

    assert list(names) == []
    with pytest.raises(KeyError):
        del names["a"]


def test_a_registry_loads_a_type_when_it_is_first_used():
    class Late(Resource):
        """Comes late."""

    load = Loader(Late)
    types = Registry({})
    types.promise({"OS::Test::Late": load})

    assert (types.names(), list(types.readers()), load.loaded) == (["OS::Test::Late"], [], 0)
    assert types.get("OS::Test::Late") is Late
    assert types.list({}, Context(project_id="mine")) == [
        {"resource_type": "OS::Test::Late", "description": "Comes late."}
    ]
    assert load.loaded == 1
    with pytest.raises(errors.NotFound):
        types.get("OS::Test::Other")
