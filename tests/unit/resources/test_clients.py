# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import pytest

from heatconv.resources import clients, exception, properties, resource
from heatconv.resources.clients import by_thread
from heatconv.resources.clients.client_plugin import ClientPlugin, ExtensionMixin
from heatconv.resources.context import Context
from heatconv.resources.registry import Registry
from heatconv.resources.validation import problems
from tests.driving import drive


class Refused(Exception):
    def __init__(self, status):
        super().__init__(status)
        self.http_status = status


class Stranger(Exception):
    """An error of another service."""

    def __init__(self, status):
        super().__init__(status)
        self.http_status = status


class Lamps(ClientPlugin, ExtensionMixin):
    exceptions_module = Refused
    service_types = ("lamp", "light")
    default_version = "2"
    supported_versions = ("1", "2")
    made = 0

    def _create(self, version=None):
        type(self).made += 1
        return SimpleNamespace(version=version, project=self.context.project_id)

    def _list_extensions(self):
        return ["dimmer"]


class Gone(ClientPlugin):
    def _create(self, version=None):
        raise AssertionError("nobody should come this far")

    @classmethod
    def is_available(cls):
        return False


@pytest.fixture
def installed(monkeypatch):
    found = {"lamps": Lamps, "gone": Gone}
    monkeypatch.setattr(clients, "installed", lambda: found)
    return found


@pytest.fixture
def context(installed):
    return Context(project_id="p", endpoints={"light": "http://127.0.0.1:1"})


@pytest.fixture
def lamps(context):
    return context.clients.client_plugin("lamps")


def test_a_client_is_made_once_for_each_version(context):
    Lamps.made = 0
    made = context.clients
    assert made.client("lamps") is made.client("lamps", version="2")
    assert made.client("lamps").version == "2"
    assert made.client("lamps").project == "p"
    assert made.client("lamps", version="1") is not made.client("lamps")
    assert Lamps.made == 2
    with pytest.raises(exception.NotSupported, match="Version 3 of Lamps"):
        made.client("lamps", version="3")


@pytest.mark.parametrize("name", ["nobody", "gone"])
def test_what_is_not_there_is_named(context, name):
    with pytest.raises(exception.ClientNotAvailable, match=name):
        context.clients.client(name)


def test_plugins_reach_each_other(lamps):
    assert lamps.clients.client_plugin("lamps") is lamps


def test_a_thread_goes_on_with_the_clients_of_whom_it_acted_for():
    kept = by_thread.ClientsByThread()
    mine, yours = (Context(project_id=project, clients_by_thread=kept) for project in ("mine", "yours"))
    clients_of = {context.project_id: context.clients for context in (mine, yours)}
    assert clients_of["mine"] is not clients_of["yours"]
    assert {each.context.project_id: each for each in clients_of.values()} == clients_of

    again = replace(mine)
    assert again.clients is clients_of["mine"]
    assert replace(mine, user_id="somebody").clients is not clients_of["mine"]
    assert replace(mine, endpoints={"light": "http://127.0.0.1:1"}).clients is not clients_of["mine"]
    with ThreadPoolExecutor(1) as other:
        assert other.submit(lambda: again.clients).result() is not clients_of["mine"]


def test_the_clients_of_whom_a_thread_acted_for_long_ago_are_not_kept():
    kept = by_thread.ClientsByThread()
    contexts = [
        Context(project_id=str(number), clients_by_thread=kept) for number in range(by_thread.MOST + 1)
    ]
    first, *others = [context.clients for context in contexts]
    assert [context.clients for context in contexts[1:]] == others
    assert contexts[0].clients is not first


def test_clients_are_made_anew_after_a_while(monkeypatch):
    monkeypatch.setattr(by_thread, "FRESH", 0)
    context = Context(project_id="mine", clients_by_thread=by_thread.ClientsByThread())
    assert context.clients is not context.clients


def test_actions_of_a_registry_share_clients_with_those_for_the_same_project(installed):
    registry = Registry({})
    clients_of_mine = registry.asker("mine").clients
    assert registry.asker("mine").clients is clients_of_mine
    assert registry.asker("yours").clients.context.project_id == "yours"
    assert Registry({}).asker("mine").clients is not clients_of_mine


@pytest.mark.parametrize(
    ("status", "meaning"), [(404, "is_not_found"), (409, "is_conflict"), (413, "is_over_limit")]
)
def test_errors_mean_what_their_status_says(lamps, status, meaning):
    for each in ("is_not_found", "is_conflict", "is_over_limit"):
        assert getattr(lamps, each)(Refused(status)) is (each == meaning)
    assert not getattr(lamps, meaning)(Stranger(status))


def test_a_finder_that_finds_nothing_means_not_found(lamps):
    assert lamps.is_not_found(exception.EntityNotFound(entity="Lamp", name="x"))


def test_the_exceptions_may_be_those_of_modules_and_lists():
    module = ModuleType("lamp_errors")
    library = ModuleType("lamp_library")
    vars(library).update(library=library, OSError=OSError)  # which imports itself, as packages do
    vars(module).update(Refused=Refused, VERSION=3, library=library)
    for declared in (Refused, module, [module, KeyError]):
        plugin = type("Plugin", (Lamps,), {"exceptions_module": declared})(None)
        assert plugin.is_client_exception(Refused(500))
        assert not plugin.is_client_exception(OSError())
    assert not type("Plugin", (Lamps,), {"exceptions_module": None})(None).is_client_exception(Refused(500))


@pytest.mark.parametrize(
    ("how", "status", "passes"),
    [
        ("ignore_not_found", 404, True),
        ("ignore_not_found", 409, False),
        ("ignore_conflict_and_not_found", 409, True),
        ("ignore_conflict_and_not_found", 404, True),
        ("ignore_conflict_and_not_found", 500, False),
    ],
)
def test_errors_can_be_ignored_as_they_come_or_after(lamps, how, status, passes):
    def as_it_comes():
        with getattr(lamps, how):
            raise Refused(status)

    def after():
        getattr(lamps, how)(Refused(status))

    for way in (as_it_comes, after):
        if passes:
            way()
        else:
            with pytest.raises(Refused):
                way()


def test_an_interrupt_is_never_ignored(lamps):
    with pytest.raises(KeyboardInterrupt), lamps.ignore_not_found:
        raise KeyboardInterrupt


def test_a_service_is_where_the_context_says(lamps):
    assert lamps.url_for() == lamps.url_for(service_type="light") == "http://127.0.0.1:1"
    assert lamps.does_endpoint_exist("light")
    assert not lamps.does_endpoint_exist("sound")
    with pytest.raises(exception.EntityNotFound, match="sound"):
        lamps.url_for(service_type="sound")


# -- types and their services --------------------------------------------------------------------


class Lamp(resource.Resource):
    default_client_name = "lamps"
    properties_schema = {"colour": properties.Schema(properties.Schema.STRING)}


@pytest.mark.parametrize(
    ("declared", "endpoints", "why"),
    [
        ({}, {"lamp": "http://127.0.0.1:1"}, None),
        ({}, {}, None),  # nobody said where anything is
        ({}, {"sound": "http://127.0.0.1:1"}, "there is no endpoint of the service lamp or light"),
        ({"required_service_extension": "dimmer"}, {}, None),
        ({"required_service_extension": "dimmer, strobe fog"}, {}, "lacks the extension strobe, fog"),
        ({"required_service_extension": ["dimmer"]}, {}, None),
        ({"default_client_name": "gone"}, {}, r"The client \(gone\) is not available"),
        ({"default_client_name": None}, {}, None),
    ],
)
def test_a_type_whose_service_cannot_be_used_is_a_mistake_in_the_template(
    installed, make, stack, declared, endpoints, why
):
    lamp = type("Lamp", (Lamp,), declared)
    facts = replace(stack, context=Context(project_id="p", endpoints=endpoints))
    found = problems(lamp, make(lamp).definition, facts)
    assert bool(found) is (why is not None)
    if why is not None:
        ((path, sentence),) = found
        assert path == "resources.server.type"
        assert sentence.startswith("HEAT-E99001 Service ")
        assert re.search(why, sentence)


def test_a_create_in_conflict_is_worth_another_attempt(installed, make):
    class Contested(Lamp):
        def handle_create(self):
            raise Refused(409)

    with pytest.raises(exception.ResourceInError) as caught:
        drive(make(Contested)).start("CREATE")
    assert caught.value.retryable
    assert isinstance(caught.value.__cause__, Refused)


def test_other_errors_of_a_create_stay_what_they_are(installed, make):
    class Refusing(Lamp):
        def handle_create(self):
            raise Refused(400)

    with pytest.raises(Refused):
        drive(make(Refusing)).start("CREATE")


def test_a_module_of_the_plugin_directories_may_bring_a_client(installed, tmp_path, context):
    (tmp_path / "lantern.py").write_text(
        "from heatconv.resources.clients import client_plugin\n"
        "class Lanterns(client_plugin.ClientPlugin):\n"
        "    def _create(self, version=None):\n"
        "        return 'lanterns'\n"
        "def client_mapping():\n"
        "    return {'lanterns': Lanterns}\n"
    )
    Registry.load([str(tmp_path)])
    assert context.clients.client("lanterns") == "lanterns"
