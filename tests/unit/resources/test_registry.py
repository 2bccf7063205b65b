# SPDX-License-Identifier: Apache-2.0
# schemas are class attributes, as in a plugin
from __future__ import annotations

import re
import textwrap
from dataclasses import replace

import pytest

from heatconv import errors
from heatconv.model.definition import Definition
from heatconv.model.states import Action
from heatconv.resources import constraints, support
from heatconv.resources.context import Context
from heatconv.resources.registry import Registry
from heatconv.resources.resource import NoActionRequired, PollDelay, Resource, UpdateReplace
from heatconv.resources.validation import problems
from tests.driving import drive

# Two plugins as somebody may have written them for Heat.
CERTIFICATE = """
    from oslo_utils import timeutils

    from heat.common import exception
    from heat.common.i18n import _
    from heat.engine import attributes
    from heat.engine import constraints
    from heat.engine import properties
    from heat.engine import resource
    from heat.engine import support
    from heat.engine import translation


    class Certificate(resource.Resource):

        support_status = support.SupportStatus(
            status=support.DEPRECATED, version='6.0.0', message=_('Use another one.'),
            previous_status=support.SupportStatus(version='2014.1'))

        PROPERTIES = (COMMON_NAME, NAMES, BITS, OLD_NAME) = ('common_name', 'names', 'bits', 'cn')
        ATTRIBUTES = (PEM, STATUS_ATTR) = ('pem', 'status')

        properties_schema = {
            COMMON_NAME: properties.Schema(
                properties.Schema.STRING, _('Whom it is for.'),
                constraints=[constraints.Length(max=64), constraints.CustomConstraint('dns_name')]),
            OLD_NAME: properties.Schema(
                properties.Schema.STRING,
                support_status=support.SupportStatus(status=support.HIDDEN)),
            NAMES: properties.Schema(
                properties.Schema.LIST, schema=properties.Schema(properties.Schema.STRING),
                default=[], update_allowed=True),
            BITS: properties.Schema(
                properties.Schema.INTEGER, default=2048,
                constraints=[constraints.AllowedValues([2048, 4096])]),
        }

        attributes_schema = {
            PEM: attributes.Schema(_('The text.'), type=attributes.Schema.STRING),
            STATUS_ATTR: attributes.Schema(
                _('The state.'), cache_mode=attributes.Schema.CACHE_NONE),
        }

        default_client_name = 'ca'
        entity = 'certificates'

        def translation_rules(self, props):
            return [translation.TranslationRule(
                props, translation.TranslationRule.REPLACE, [self.COMMON_NAME],
                value_path=[self.OLD_NAME])]

        def validate(self):
            super(Certificate, self).validate()
            if not self.properties[self.COMMON_NAME] and not self.properties[self.NAMES]:
                raise exception.PropertyUnspecifiedError(self.COMMON_NAME, self.NAMES)

        def handle_create(self):
            args = dict((k, v) for k, v in self.properties.items() if v is not None)
            args['name'] = self.physical_resource_name()
            made = self.client().certificates.create(**args)
            self.resource_id_set(made['id'])
            self.data_set('key', made['key'], redact=True)

        def check_create_complete(self, cookie):
            status = self.client().certificates.status(self.resource_id)
            if status == 'ERROR':
                raise exception.ResourceInError(resource_status=status, status_reason='no luck')
            return status == 'ISSUED'

        def handle_update(self, json_snippet, tmpl_diff, prop_diff):
            if self.NAMES in prop_diff:
                props = json_snippet.properties(self.properties_schema, self.context)
                self.client().certificates.rename(self.resource_id, props[self.NAMES])

        def _resolve_attribute(self, name):
            if name == self.STATUS_ATTR:
                return self.client().certificates.status(self.resource_id)
            return self.data().get('key')

        def get_reference_id(self):
            return self.physical_resource_name_or_FnGetRefId()


    class DnsName(constraints.BaseCustomConstraint):
        def validate(self, value, context):
            return ' ' not in value


    def constraint_mapping():
        return {'dns_name': DnsName}


    def resource_mapping():
        return {'My::CA::Certificate': Certificate}
"""

TIMER = """
    import time

    from heat.common import exception
    from heat.common.i18n import _
    from heat.engine import properties
    from heat.engine import resource


    class Timer(resource.Resource):
        PROPERTIES = (SECONDS,) = ('seconds',)
        properties_schema = {
            SECONDS: properties.Schema(properties.Schema.NUMBER, _('How long.'), required=True),
        }

        def handle_create(self):
            self.resource_id_set(self.physical_resource_name())
            return time.time() + self.properties[self.SECONDS]

        def check_create_complete(self, until):
            if time.time() < until:
                raise resource.PollDelay(until - time.time())
            return True

        def needs_replace_with_prop_diff(self, changed_properties_set, after_props, before_props):
            raise resource.UpdateReplace(self)

        def handle_signal(self, details=None):
            raise resource.NoActionRequired(self.name, 'a timer')


    def available_resource_mapping():
        return {'My::Timer': Timer}


    def resource_mapping():
        raise AssertionError('the available ones come first')
"""


def ported(plugin):
    """Change the import lines, and nothing else."""
    text = textwrap.dedent(plugin)
    text = text.replace("from heat.common.i18n import", "from heatconv.resources.i18n import")
    imports = re.compile(r"^from heat\.(common|engine) import", flags=re.MULTILINE)
    return imports.sub("from heatconv.resources import", text)


@pytest.fixture
def plugins(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "certificate.py").write_text(ported(CERTIFICATE))
    (tmp_path / "deep" / "certificate.py").write_text(ported(TIMER))
    (tmp_path / "deep" / "no_plugin.py").write_text("X = 1\n")
    yield tmp_path
    constraints.installed().pop("dns_name", None)


class CertificateAuthority:
    """A service and the client of it."""

    service_types = ()

    def __init__(self):
        self.made = {}
        self.certificates = self

    def client(self, name, version=None):
        assert name == "ca"
        return self

    def client_plugin(self, name):
        return self

    def is_not_found(self, error):
        return isinstance(error, KeyError)

    def create(self, **args):
        self.made["c1"] = args | {"polls": 0}
        return {"id": "c1", "key": "secret"}

    def status(self, certificate):
        self.made[certificate]["polls"] += 1
        return "ISSUED" if self.made[certificate]["polls"] > 1 else "PENDING"

    def rename(self, certificate, names):
        self.made[certificate]["names"] = names

    def delete(self, certificate):
        del self.made[certificate]


def test_a_heat_plugin_lives_its_life_with_its_import_lines_changed(plugins, make, served, keeper):
    certificate = Registry.load([str(plugins)]).get("My::CA::Certificate")
    authority = CertificateAuthority()
    facts = served(authority)

    made = make(certificate, {"cn": "a.example"}, facts=facts)
    token = drive(made).start(Action.CREATE)
    assert [drive(made).is_complete(Action.CREATE, token) for _ in range(2)] == [False, True]
    assert authority.made["c1"]["common_name"] == "a.example"
    assert made.get_reference_id() == made.physical_resource_name()
    assert made.get_attribute("pem") == "secret"

    applied = make(certificate, {"cn": "a.example"}, facts=facts, action=Action.CREATE)
    wanted = {"common_name": "a.example", "names": ["b.example"]}
    update = drive(applied).plan_update(replace(applied.definition, properties=wanted))
    token = drive(applied).start(Action.UPDATE, update.json_snippet, update.tmpl_diff, update.prop_diff)
    assert drive(applied).is_complete(Action.UPDATE, token)
    assert authority.made["c1"]["names"] == ["b.example"]

    for _ in range(2):
        gone = make(certificate, wanted, facts=facts)
        assert drive(gone).is_complete(Action.DELETE, drive(gone).start(Action.DELETE))
        assert authority.made == {}


def test_a_ported_plugin_is_validated(plugins, make, served):
    certificate = Registry.load([str(plugins)]).get("My::CA::Certificate")
    stack = served(CertificateAuthority())
    definition = make(certificate, {"common_name": "a b"}).definition
    assert problems(certificate, definition, stack) == [
        ("resources.server.properties.common_name", '"a b" is not valid')
    ]
    assert problems(certificate, make(certificate, {}).definition, stack) == [
        (
            "resources.server",
            "At least one of the following properties must be specified: common_name, names.",
        )
    ]


def test_a_plugin_says_when_to_be_asked_again(plugins, make):
    timer = Registry.load([str(plugins)]).get("My::Timer")
    waiting = make(timer, {"seconds": 600})
    with pytest.raises(PollDelay) as caught:
        drive(waiting).is_complete(Action.CREATE, drive(waiting).start(Action.CREATE))
    assert 590 < caught.value.period <= 600
    with pytest.raises(NoActionRequired, match="a timer"):
        waiting.handle_signal()
    waiting = make(timer, {"seconds": 600}, action=Action.CREATE)
    with pytest.raises(UpdateReplace, match="server"):
        drive(waiting).plan_update(replace(waiting.definition, properties={"seconds": 1}))


def test_a_module_is_imported_once(plugins):
    first, second = (Registry.load([str(plugins)]).get("My::Timer") for _ in range(2))
    assert first is second


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import no_such_module_at_all", "ModuleNotFoundError"),
        ("def resource_mapping(): return {'A': int}", "not a subclass"),
        ("def", "SyntaxError"),
    ],
)
def test_a_plugin_that_does_not_load_is_an_error_with_its_path(tmp_path, text, reason):
    path = tmp_path / "broken.py"
    path.write_text(text)
    with pytest.raises(errors.PluginError) as caught:
        Registry.load([str(tmp_path)])
    assert str(path) in str(caught.value)
    assert reason in str(caught.value)


def test_the_built_in_types_are_installed():
    names = Registry.load().names()
    assert {"OS::Heat::None", "OS::Heat::RandomString", "OS::Heat::TestResource", "OS::Heat::Value"} <= set(
        names
    )
    assert names == sorted(names)


def test_a_type_that_is_not_there_is_not_found():
    with pytest.raises(errors.NotFound, match=r"The Resource Type \(No::Such\) could not be found."):
        Registry({}).get("No::Such")


MINE = Context(project_id="mine")


class Old(Resource):
    """Was there
    long ago.

    But nobody remembers.
    """

    support_status = support.SupportStatus(
        support.DEPRECATED, version="2.0", previous_status=support.SupportStatus(version="1.0")
    )


class Hidden(Resource):
    support_status = support.SupportStatus(support.HIDDEN)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["A::New", "A::Old"]),
        ({"name": "New"}, []),
        ({"name": ".*New"}, ["A::New"]),
        ({"support_status": "DEPRECATED"}, ["A::Old"]),
        ({"version": "1.0"}, ["A::Old"]),
        ({"version": "3.0"}, []),
    ],
)
def test_the_list_can_be_narrowed_and_leaves_hidden_types_out(query, expected):
    registry = Registry({"A::Old": Old, "A::New": Resource, "A::Hidden": Hidden})
    assert [item["resource_type"] for item in registry.list(query, MINE)] == expected


class Away(Resource):
    default_client_name = "nobody-has-this-client"


def test_types_whose_service_is_not_there_are_not_listed_and_say_so():
    registry = Registry({"A::Away": Away, "A::New": Resource})
    assert [each["resource_type"] for each in registry.list({}, MINE)] == ["A::New"]
    with pytest.raises(errors.TypeUnavailable, match=r"for resource type A::Away, reason"):
        registry.describe("A::Away", MINE)


@pytest.mark.parametrize("refused", ["A::Old", "A::*"])
def test_types_that_are_refused_are_not_listed_and_not_shown(refused):
    registry = Registry({"A::Old": Old, "B::New": Resource})
    assert [each["resource_type"] for each in registry.list({}, MINE, [refused])] == ["B::New"]
    with pytest.raises(errors.Forbidden, match="A::Old"):
        registry.describe("A::Old", MINE, [refused])


def test_a_hidden_type_is_not_shown():
    with pytest.raises(errors.NotSupported, match="A::Hidden"):
        Registry({"A::Hidden": Hidden}).describe("A::Hidden", MINE)


def test_the_list_describes_each_type():
    assert Registry({"A::Old": Old}).list({}, MINE) == [
        {"resource_type": "A::Old", "description": "Was there long ago."}
    ]


def test_a_name_that_is_no_regular_expression_is_refused():
    with pytest.raises(errors.BadRequest, match="regular expression"):
        Registry({}).list({"name": "("}, MINE)


def test_a_type_shows_its_schema(plugins, monkeypatch):
    registry = Registry.load([str(plugins)])
    monkeypatch.setattr(registry.get("My::CA::Certificate"), "default_client_name", None)
    shown = registry.describe("My::CA::Certificate", MINE)
    assert shown["resource_type"] == "My::CA::Certificate"
    assert set(shown["properties"]) == {"common_name", "names", "bits"}
    assert shown["properties"]["bits"] == {
        "type": "integer",
        "required": False,
        "default": 2048,
        "update_allowed": False,
        "immutable": False,
        "constraints": [{"allowed_values": [2048, 4096]}],
    }
    assert shown["attributes"] == {
        "pem": {"description": "The text.", "type": "string"},
        "status": {"description": "The state."},
        "show": {"description": "Detailed information about resource.", "type": "map"},
    }
    assert shown["support_status"] == {
        "status": "DEPRECATED",
        "message": "Use another one.",
        "version": "6.0.0",
        "previous_status": {
            "status": "SUPPORTED",
            "message": None,
            "version": "2014.1",
            "previous_status": None,
        },
    }


def test_what_has_a_newer_name_may_become_that_and_not_come_back():
    class Newer(Resource):
        pass

    class Older(Newer):
        support_status = support.SupportStatus(support.HIDDEN, substitute_class=Newer)

    class Mended(Newer):
        """Stands before a plugin's class, which knows nothing of it."""

    registry = Registry({"Older": Older, "Newer": Newer, "Mended": Mended, "Other": Resource})

    def may_become(before, after):
        return registry.may_become(Definition(name="a", type=before), Definition(name="a", type=after))

    assert [name for name in ("Older", "Newer", "Mended", "Other", "Lost") if may_become("Older", name)] == [
        "Older",
        "Newer",
        "Mended",
    ]
    assert [name for name in ("Older", "Newer", "a.yaml") if may_become("Newer", name)] == ["Newer"]
    assert may_become("Lost", "Lost")
    assert not may_become("Lost", "Newer")
