# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace

import pytest

from heatconv import errors
from heatconv.model.deferred import Reference
from heatconv.model.definition import Definition
from heatconv.model.secrets import redacted
from heatconv.model.states import Action, DeletionPolicy, Status
from heatconv.resources import attributes, exception, properties, resource, translation
from heatconv.resources.clients.status import http_status
from heatconv.resources.declared import implements
from heatconv.resources.driver import DeleteKind
from heatconv.resources.naming import physical_name
from heatconv.resources.referenced import values
from heatconv.resources.rsrc_defn import ResourceDefinition
from heatconv.resources.short_id import get_id
from tests.driving import drive


class Server(resource.Resource):
    properties_schema = {
        "image": properties.Schema(properties.Schema.STRING, default="linux"),
        "size": properties.Schema(properties.Schema.INTEGER, default=1, update_allowed=True),
        "zone": properties.Schema(properties.Schema.STRING, immutable=True),
    }
    attributes_schema = {
        "addresses": attributes.Schema("By network.", type=attributes.Schema.MAP),
        "power": attributes.Schema("On or off.", cache_mode=attributes.Schema.CACHE_NONE),
    }
    replace_failed = False
    reads = 0

    def handle_create(self):
        self.resource_id_set(self.physical_resource_name())
        return {"asked": 0}

    def check_create_complete(self, token):
        token["asked"] += 1
        return token["asked"] > 1

    def needs_replace_failed(self):
        return self.replace_failed

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        return prop_diff

    def _resolve_attribute(self, name):
        self.reads += 1
        return {"net": [{"ip": "10.0.0.1"}]} if name == "addresses" else f"on {self.reads}"


def test_a_create_runs_its_hooks_and_keeps_the_physical_id_at_once(make, keeper):
    server = make(Server)
    token = drive(server).start(Action.CREATE)
    assert keeper.physical_id == server.resource_id == server.get_reference_id()
    assert not drive(server).is_complete(Action.CREATE, token)
    assert drive(server).is_complete(Action.CREATE, token)


def test_a_create_with_wrong_properties_makes_nothing(make, keeper):
    with pytest.raises(exception.StackValidationFailed, match=r"resources\.server\.properties\.size"):
        drive(make(Server, {"size": "big"})).start(Action.CREATE)
    assert keeper.physical_id is None


def test_metadata_of_the_definition_are_kept(make, keeper):
    drive(make(Server, metadata={"a": 1})).start(Action.CREATE)
    assert keeper.metadata == {"a": 1}


def test_an_external_resource_is_looked_at_but_never_made_changed_or_deleted(make, keeper):
    server = make(Server, external_id="theirs")
    assert drive(server).is_complete(Action.CREATE, drive(server).start(Action.CREATE))
    assert keeper.physical_id == "theirs"
    after = replace(server.definition, properties={"size": 2})
    server = make(Server, external_id="theirs", action=Action.CREATE)
    assert drive(server).plan_update(after) is None
    assert drive(server).delete_kind() is DeleteKind.NOTHING
    with pytest.raises(errors.NotSupported, match="external_id"):
        drive(server).plan_update(replace(after, external_id="other"))


class Watched(Server):
    """Says which hooks ran."""

    def __init__(self, *args):
        super().__init__(*args)
        self.ran = []

    def handle_check(self):
        self.ran.append("check")
        return "token"

    def check_check_complete(self, token):
        self.ran.append(token)
        return True

    def handle_suspend(self):
        raise AssertionError("it is somebody else's")

    handle_create = handle_resume = handle_snapshot = handle_delete = handle_suspend

    def handle_suspend_cancel(self, token):
        raise AssertionError("it is somebody else's")


def test_of_an_external_resource_every_action_is_a_look_or_nothing(make, keeper):
    for action in (Action.CREATE, Action.ADOPT, Action.CHECK):
        watched = make(Watched, {"size": "no number"}, external_id="theirs")
        assert drive(watched).is_complete(action, drive(watched).start(action))
        assert (watched.ran, keeper.physical_id) == (["check", "token"], "theirs")
    for action in (Action.SUSPEND, Action.RESUME, Action.SNAPSHOT, Action.DELETE):
        watched = make(Watched, external_id="theirs")
        assert drive(watched).is_complete(action, drive(watched).start(action))
        drive(watched).cancel(action, None)
        assert watched.ran == []


class Keeping(resource.Resource):
    """Has a hook of each kind."""

    def handle_snapshot(self):
        self.data_set("image", "i1")
        return 1

    def check_snapshot_complete(self, token):
        return token == 1

    def handle_delete_snapshot(self, snapshot):
        return snapshot["resource_data"]["image"]

    def check_delete_snapshot_complete(self, token):
        return token == "i1"

    def handle_restore(self, defn, restore_data):
        return defn.freeze(properties={"image": restore_data["resource_data"]["image"]})


def test_a_snapshot_goes_through_its_hooks(make):
    keeping = make(Keeping, metadata={"m": 1})
    assert drive(keeping).is_complete(Action.SNAPSHOT, drive(keeping).start(Action.SNAPSHOT))
    part = keeping.prepare_abandon()
    assert drive(keeping).start(Action.RESTORE, keeping.t, part).definition.properties == {"image": "i1"}
    assert drive(keeping).is_complete("DELETE_SNAPSHOT", drive(keeping).start("DELETE_SNAPSHOT", part))


def test_what_is_abandoned_can_be_adopted_again(make, keeper):
    server = make(Server, metadata={"m": 1})
    drive(server).start(Action.CREATE)
    server.data_set("k", "v")
    left = server.prepare_abandon()
    assert left == {
        "name": "server",
        "type": "T",
        "resource_id": server.resource_id,
        "action": "INIT",
        "status": "COMPLETE",
        "metadata": {"m": 1},
        "resource_data": {"k": "v"},
    }
    keeper.physical_id, keeper.data, keeper.metadata = None, {}, {}
    drive(make(Server)).start(Action.ADOPT, left)
    assert (keeper.physical_id, keeper.data, keeper.metadata) == (server.resource_id, {"k": "v"}, {"m": 1})


def test_what_is_adopted_has_to_be_valid(make, keeper):
    with pytest.raises(exception.StackValidationFailed):
        drive(make(Server, {"size": "big"})).start(Action.ADOPT, {"resource_id": "old"})
    assert keeper.physical_id is None


def test_a_type_without_hooks_does_nothing_in_every_action(make):
    plain = make(resource.Resource)
    for action in (
        Action.CREATE,
        Action.DELETE,
        Action.SUSPEND,
        Action.RESUME,
        Action.CHECK,
        Action.SNAPSHOT,
    ):
        assert drive(plain).is_complete(action, drive(plain).start(action))
    assert not implements(resource.Resource, "handle_check")
    assert not implements(Server, "find_existing")
    assert implements(Server, "handle_create")


# -- names that older plugins use --------------------------------------------------------


def test_the_reference_id_has_an_older_name(make):
    class Old(Server):
        def FnGetRefId(self):  # noqa: N802  # Heat's name
            return f"old-{super().FnGetRefId()}"

    assert make(Server).FnGetRefId() == "server"
    assert make(Old).FnGetRefId() == "old-server"


def test_the_row_has_an_id_once_there_is_one(make, stack):
    server = make(Server)
    assert server.id == server.uuid
    assert Server("server", server.definition, stack).id is None


@pytest.mark.parametrize("service", ["cinder", "heat", "keystone", "neutron", "nova", "swift", "trove"])
def test_the_client_of_a_service_is_had_by_its_name(make, service):
    class Own(Server):
        def client(self, name=None, version=None):
            return f"client of {name}"

    assert getattr(make(Own), service)() == f"client of {service}"


# -- names, memory -------------------------------------------------------------------


def test_the_physical_name_is_the_same_for_one_incarnation_only(make):
    server = make(Server)
    name = server.physical_resource_name()
    stack, resource_name, tail = name.split("-")
    assert (stack, resource_name, len(tail)) == ("web", "server", 12)
    assert name == server.physical_resource_name()
    assert name != make(Server).physical_resource_name()


def test_an_over_long_name_keeps_its_start_and_its_tail():
    row = str(uuid.uuid4())
    full = physical_name("stack" * 20, "resource", row, None)
    short = physical_name("stack" * 20, "resource", row, 53)
    assert len(short) == 53
    assert short == "st-" + full[-50:]
    assert short.endswith(get_id(row))


def test_notes_are_kept_and_secret_ones_marked(make, keeper):
    server = make(Server)
    server.data_set("a", 1)
    server.data_set("password", "x", redact=True)
    assert server.data() == {"a": "1", "password": "x"}
    assert redacted(keeper.data) == {"password"}
    assert make(Server).data() == {"a": "1", "password": "x"}
    assert server.data_delete("password")
    assert not server.data_delete("password")
    assert keeper.data == {"a": "1"}


def test_metadata_can_be_merged(make, keeper):
    server = make(Server)
    server.metadata_set({"a": 1})
    server.metadata_set({"b": 2}, merge_metadata=lambda wanted, current: {**current, **wanted})
    assert keeper.metadata == server.metadata_get() == {"a": 1, "b": 2}


# -- reading ---------------------------------------------------------------------------


def test_output_gives_the_attributes_asked_for(make):
    wanted = [
        Reference("server"),
        Reference("server", "addresses", ("net", 0, "ip")),
        Reference("server", "addresses", ("net", 5, "ip")),
        Reference("server", "nothing"),
        Reference("server", ""),
    ]
    server = make(Server)
    assert values(server, wanted) == {
        '["addresses","net",0,"ip"]': "10.0.0.1",
        '["addresses","net",5,"ip"]': None,
        '["nothing"]': None,
        '[""]': {"addresses": {"net": [{"ip": "10.0.0.1"}]}, "power": "on 2"},
    }


def test_an_attribute_is_read_once_unless_its_schema_says_otherwise(make):
    server = make(Server)
    server.get_attribute("addresses")
    server.get_attribute("addresses")
    assert server.reads == 1
    assert server.get_attribute("power") != server.get_attribute("power")


def test_an_attribute_nobody_declared_is_an_error(make):
    with pytest.raises(exception.InvalidTemplateAttribute, match="server nothing"):
        make(Server).get_attribute("nothing")


def test_check_conditions_are_told_all(make):
    conditions = [
        {"attr": "status", "expected": "ACTIVE", "current": "ERROR"},
        {"attr": "power", "expected": ["on", "off"], "current": "on"},
    ]
    with pytest.raises(exception.Error, match=r"'status': expected 'ACTIVE', got 'ERROR'$"):
        make(Server)._verify_check_conditions(conditions)


# -- updates -----------------------------------------------------------------------------


def applied(make, given=None, **state):
    return make(Server, given, **{"action": Action.CREATE} | state)


def test_no_difference_is_no_update(make):
    server = applied(make, {"size": 1})
    after = replace(
        server.definition, depends_on=("other",), description="new", deletion_policy=DeletionPolicy.RETAIN
    )
    assert drive(server).plan_update(after) is None


def test_an_update_in_place_gets_what_changed(make, keeper):
    server = applied(make, {"size": 1})
    update = drive(server).plan_update(
        replace(server.definition, properties={"size": "2"}, metadata={"m": 1})
    )
    assert update.prop_diff == {"size": 2}
    assert update.tmpl_diff.properties_changed()
    assert update.tmpl_diff.metadata_changed()
    assert not update.tmpl_diff.update_policy_changed()
    token = drive(server).start(Action.UPDATE, update.json_snippet, update.tmpl_diff, update.prop_diff)
    assert token == {"size": 2}
    assert keeper.metadata == {"m": 1}
    assert server.properties["size"] == 1
    assert drive(server).is_complete(Action.UPDATE, token)
    assert server.properties["size"] == 2


def test_a_value_said_otherwise_is_an_update_without_a_change(make):
    update = drive(applied(make, {})).plan_update(
        Definition(name="server", type="T", properties={"size": "1"})
    )
    assert update.prop_diff == {}


def test_a_property_that_cannot_be_updated_takes_a_replacement(make):
    server = applied(make)
    with pytest.raises(resource.UpdateReplace) as caught:
        drive(server).plan_update(replace(server.definition, properties={"image": "bsd"}))
    assert isinstance(caught.value, errors.NeedsReplacement)
    assert caught.value.name == "server"


def test_a_property_that_may_not_change_at_all_is_refused(make):
    server = applied(make, {"zone": "a"})
    with pytest.raises(errors.NotSupported, match="Update to properties zone of server"):
        drive(server).plan_update(replace(server.definition, properties={"zone": "b"}))


def test_wanted_properties_are_validated(make):
    server = applied(make)
    with pytest.raises(exception.StackValidationFailed):
        drive(server).plan_update(replace(server.definition, properties={"unheard": 1}))


def test_what_was_never_there_is_replaced(make):
    for action in (Action.INIT, Action.DELETE):
        server = applied(make, action=action)
        with pytest.raises(resource.UpdateReplace):
            drive(server).plan_update(server.definition)


def test_after_a_failure_the_plugin_decides(make):
    server = applied(make, status=Status.FAILED)
    assert drive(server).plan_update(server.definition) is None
    server.replace_failed = True
    with pytest.raises(resource.UpdateReplace):
        drive(server).plan_update(server.definition)


def test_an_unhealthy_one_is_replaced(make):
    server = applied(make, action=Action.CHECK, status=Status.FAILED)
    with pytest.raises(resource.UpdateReplace):
        drive(server).plan_update(server.definition)


class Cautious(Server):
    """Asks for a replacement in one of the hooks."""

    says = ""

    def needs_replace(self, after_props):
        return self.says == "props"

    def needs_replace_with_tmpl_diff(self, tmpl_diff):
        return self.says == "tmpl" and tmpl_diff.update_policy_changed()

    def needs_replace_with_prop_diff(self, changed_properties_set, after_props, before_props):
        return (self.says, before_props["size"], after_props["size"]) == ("prop", 1, 2)


@pytest.mark.parametrize("hook", ["props", "tmpl", "prop"])
def test_each_hook_can_ask_for_a_replacement(make, hook):
    server = make(Cautious, action=Action.CREATE)
    after = replace(server.definition, properties={"size": 2}, update_policy={"x": 1})
    assert drive(server).plan_update(after) is not None
    server.says = hook
    with pytest.raises(resource.UpdateReplace):
        drive(server).plan_update(after)


class Stubborn(Server):
    """Is updated always or never, unless it asks its base."""

    says: bool | None = None

    def _needs_update(
        self, after, before, after_props, before_props, prev_resource, check_init_complete=True
    ):
        if before_props["size"] > after_props["size"]:
            raise resource.UpdateReplace(self)
        if self.says is not None:
            return self.says
        return super()._needs_update(
            after, before, after_props, before_props, prev_resource, check_init_complete=False
        )


def test_a_plugin_may_say_itself_whether_an_update_is_due(make):
    server = make(Stubborn, {"size": 2})
    bigger, smaller = (replace(server.definition, properties={"size": size}) for size in (3, 1))
    assert drive(server).plan_update(server.definition) is None
    assert drive(server).plan_update(bigger).prop_diff == {"size": 3}
    server.says = False
    assert drive(server).plan_update(bigger) is None
    server.says = True
    assert drive(server).plan_update(server.definition).prop_diff == {}
    with pytest.raises(resource.UpdateReplace, match="server"):
        drive(server).plan_update(smaller)


def test_a_plugin_may_remember_another_definition_than_was_applied(make):
    class Forgetful(Server):
        def frozen_definition(self):
            return super().frozen_definition().freeze(metadata={})

    server = make(Forgetful, metadata={"m": 1}, action=Action.CREATE)
    assert drive(server).plan_update(replace(server.definition, metadata={})) is None
    assert drive(server).plan_update(server.definition).tmpl_diff.metadata_changed()


def test_a_type_without_an_update_hook_is_replaced(make):
    plain = make(resource.Resource, action=Action.CREATE)
    with pytest.raises(resource.UpdateReplace):
        plain.handle_update(None, None, {"a": 1})


# -- deletes -----------------------------------------------------------------------------


class NotThere(Exception):
    pass


class Cloud:
    """A service with one collection, and the clients to reach it."""

    def __init__(self, *things):
        self.things = {thing: {"size": 3, "image": "bsd"} for thing in things}
        self.servers = self

    def client(self, name, version=None):
        return self

    def client_plugin(self, name):
        return self

    def is_not_found(self, error):
        return isinstance(error, NotThere)

    def find(self, name):
        if f"id-{name}" not in self.things:
            raise exception.EntityNotFound(entity="Server", name=name)
        return f"id-{name}"

    def delete(self, thing):
        self.get(thing)
        del self.things[thing]

    def get(self, thing):
        if thing not in self.things:
            raise NotThere(thing)
        self.found = self.things[thing]
        return self

    def to_dict(self):
        return self.found


class InCloud(Server):
    default_client_name = "cloud"
    entity = "servers"


def test_delete_deletes_by_client_and_accepts_that_it_is_gone(make, keeper, served):
    cloud = Cloud("x")
    facts = served(cloud)
    keeper.physical_id = "x"
    for _ in range(2):
        server = make(InCloud, facts=facts)
        assert drive(server).is_complete(Action.DELETE, drive(server).start(Action.DELETE))
    assert cloud.things == {}


def test_what_was_never_made_is_not_deleted(make):
    assert drive(make(InCloud)).start(Action.DELETE) is None


def test_without_clients_the_error_says_which_one_is_missing(make):
    with pytest.raises(exception.ClientNotAvailable, match="cloud"):
        make(InCloud).client()


def test_the_deletion_policy_decides(make, keeper, served):
    cloud = Cloud("x")
    keeper.physical_id = "x"
    retained = make(InCloud, facts=served(cloud), deletion_policy=DeletionPolicy.RETAIN)
    assert drive(retained).is_complete(Action.DELETE, drive(retained).start(Action.DELETE))
    assert "x" in cloud.things


class Copied(InCloud):
    def handle_snapshot_delete(self, state):
        return "a copy"


def test_a_snapshot_is_left_where_the_type_can_leave_one(make):
    copied = make(Copied, deletion_policy=DeletionPolicy.SNAPSHOT)
    assert drive(copied).delete_kind() is DeleteKind.SNAPSHOT
    assert drive(copied).start(Action.DELETE) == "a copy"
    # It may have been one of another type that its name's policy was given to.
    assert drive(make(InCloud, deletion_policy=DeletionPolicy.SNAPSHOT)).delete_kind() is DeleteKind.DELETE


# -- observation, adoption, cancelling -----------------------------------------------------


def test_observation_reads_what_can_be_updated(make, keeper, served):
    keeper.physical_id = "x"
    assert drive(make(InCloud, facts=served(Cloud("x")))).observe() == {"size": 3}
    assert drive(make(Server)).observe() == {}


def test_observation_tells_that_it_is_gone(make, keeper, served):
    keeper.physical_id = "x"
    with pytest.raises(errors.PhysicalResourceGone, match="server"):
        drive(make(InCloud, facts=served(Cloud()))).observe()


def test_attributes_of_what_is_gone_are_none(make, keeper, served):
    keeper.physical_id = "x"
    assert make(InCloud, facts=served(Cloud())).get_attribute("show") is None
    assert make(InCloud, facts=served(Cloud("x"))).get_attribute("show", "size") == 3


def test_adopting_takes_over_what_is_there(make, keeper):
    server = make(Server)
    data = {"resource_id": "old", "resource_data": {"k": "v"}, "metadata": {"m": 1}}
    assert drive(server).is_complete(Action.ADOPT, drive(server).start(Action.ADOPT, data))
    assert (keeper.physical_id, keeper.data, keeper.metadata) == ("old", {"k": "v"}, {"m": 1})
    with pytest.raises(exception.Error, match="resource_id"):
        drive(server).start(Action.ADOPT, {})


def test_cancelling_tells_plugins_that_care(make):
    class Caring(Server):
        def handle_create_cancel(self, token):
            token["cancelled"] = True

    token: dict[str, bool] = {}
    drive(make(Caring)).cancel(Action.CREATE, token)
    drive(make(Server)).cancel(Action.CREATE, token)
    assert token == {"cancelled": True}


def test_a_cancel_that_fails_matters_to_nobody(make, caplog):
    class Careless(Server):
        def handle_update_cancel(self, token):
            raise RuntimeError("too late")

    drive(make(Careless)).cancel(Action.UPDATE, None)
    assert "cancelling its UPDATE failed" in caplog.text


def test_who_requires_a_resource_is_known_to_its_stack(make, stack):
    facts = replace(stack, required_by=lambda name: [f"user of {name}"])
    assert make(Server, facts=facts).required_by() == ["user of server"]
    with pytest.raises(errors.NotSupported, match="require server"):
        make(Server).required_by()
    assert make(Server).preview().name == "server"


def test_schemas_may_depend_on_the_definition(make):
    class Chameleon(Server):
        def regenerate_info_schema(self, definition):
            given = definition.definition.properties
            self.properties_schema = {key: properties.Schema(properties.Schema.ANY) for key in given}

    update = drive(make(Chameleon, {"size": 1}, action=Action.CREATE)).plan_update
    with pytest.raises(resource.UpdateReplace):
        update(Definition(name="server", type="T", properties={"anything": 1}))


def test_the_update_policy_is_seen_through_its_schema(make):
    class Rolling(Server):
        update_policy_schema = {"batch": properties.Schema(properties.Schema.INTEGER, default=1)}

    assert make(Rolling, update_policy={"batch": "3"}).update_policy["batch"] == 3
    assert make(Rolling).update_policy["batch"] == 1


def test_a_snippet_is_made_as_in_heat():
    snippet = ResourceDefinition(
        "a", "T", {"p": 1}, {"m": 1}, ["b"], ResourceDefinition.RETAIN, {"u": 1}, "text", "theirs"
    )
    assert snippet.definition == Definition(
        name="a",
        type="T",
        properties={"p": 1},
        metadata={"m": 1},
        depends_on=("b",),
        deletion_policy=DeletionPolicy.RETAIN,
        update_policy={"u": 1},
        description="text",
        external_id="theirs",
    )
    other = snippet.freeze(depends=["c"], deletion_policy="Delete", properties={})
    assert other.definition == replace(
        snippet.definition, depends_on=("c",), deletion_policy=DeletionPolicy.DELETE, properties={}
    )


def test_identifiers_lead_to_the_resource(make, stack):
    arn = make(Server).identifier().arn()
    assert arn == f"arn:openstack:heat::p:stacks/web/{stack.id}/resources/server"


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (
            exception.EntityNotFound(entity="Image", name="x"),
            errors.NotFound,
            "The Image (x) could not be found.",
        ),
        (exception.NotSupported(feature="That"), errors.NotSupported, "That is not supported."),
        (exception.ResourceInError(resource_status="ERROR"), errors.ResourceError, 'ERROR due to "Unknown"'),
        (exception.ResourcePropertyConflict("a", "b"), errors.ResourceError, "at the same time: a, b."),
        (exception.Error("plain 100%"), errors.ResourceError, "plain 100%"),
        (exception.StackValidationFailed(message="bad"), errors.Invalid, "bad"),
        (exception.HeatException(), errors.HeatconvError, "unknown"),
    ],
)
def test_exceptions_are_the_errors_of_the_house(error, kind, text):
    assert isinstance(error, kind)
    assert text in str(error)
    assert error.message == str(error)


def test_what_is_still_there_when_it_should_be_gone_is_a_conflict():
    assert http_status(exception.PhysicalResourceExists(name="x")) == 409


def test_a_plugin_does_not_talk_to_engines(make):
    with pytest.raises(errors.NotSupported, match="Calling an engine"):
        make(Server).rpc_client()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (exception.EntityNotFound(entity="Image", name="x"), errors.NotFound),
        (exception.NotSupported(feature="That"), errors.NotSupported),
        (exception.ResourceActionNotSupported(action="Signal"), errors.NotSupported),
        (exception.Forbidden(), errors.Forbidden),
        (exception.StackValidationFailed(message="bad"), errors.Invalid),
    ],
)
def test_what_a_user_did_wrong_is_first_of_all_that(error, kind):
    # The bus tells an error by the first class that both of its sides know.
    known = [cls for cls in type(error).__mro__ if cls.__module__ == errors.__name__]
    assert known[0] is kind


def test_an_update_gives_the_hook_names_as_they_were_looked_up(make):
    class Finder:
        def find(self, name):
            return f"id-of-{name}"

    class Named(Server):
        properties_schema = {"flavor": properties.Schema(properties.Schema.STRING, update_allowed=True)}

        def translation_rules(self, given):
            rule = translation.TranslationRule
            return [rule(given, rule.RESOLVE, ["flavor"], client_plugin=Finder(), finder="find")]

    plugin = make(Named, {"flavor": "small"}, action=Action.CREATE)
    after = replace(plugin.definition, properties={"flavor": "large"})
    update = drive(plugin).plan_update(after)

    wanted = update.json_snippet.properties(Named.properties_schema)
    assert (wanted["flavor"], update.prop_diff) == ("id-of-large", {"flavor": "id-of-large"})
    assert update.json_snippet.definition == after


def test_what_an_attribute_reads_when_it_is_read_is_plain_data(make):
    class Lazy(Mapping):
        """As a client library makes them."""

        def __getitem__(self, key):
            return {"novnc": f"http://{key}", "since": uuid.UUID(int=0)}[key]

        def __iter__(self):
            return iter(["novnc", "since"])

        def __len__(self):
            return 2

    class Telling(Server):
        def _resolve_attribute(self, name):
            return Lazy()

    plain = {"novnc": "http://novnc", "since": str(uuid.UUID(int=0))}
    output = values(make(Telling), [Reference("a", "power"), Reference("a", "power", ("novnc",))])
    assert output == {'["power"]': plain, '["power","novnc"]': "http://novnc"}
    assert values(make(Telling), [Reference("a", "")]) == {'[""]': {"addresses": plain, "power": plain}}
