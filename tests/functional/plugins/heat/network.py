# SPDX-License-Identifier: Apache-2.0
"""A network, most of which can be updated, with old names for what it takes."""

from heat.common.i18n import _
from heat.engine import attributes
from heat.engine import constraints
from heat.engine import properties
from heat.engine import resource
from heat.engine import support
from heat.engine import translation


class Network(resource.Resource):
    PROPERTIES = (
        LABEL,
        TITLE,
        TAGS,
        TAG,
        PEER,
        ZONE,
    ) = (
        "label",
        "title",
        "tags",
        "tag",
        "peer",
        "zone",
    )

    ATTRIBUTES = (REQUIRED_BY,) = ("required_by",)

    attributes_schema = {
        REQUIRED_BY: attributes.Schema(_("Who needs it."), type=attributes.Schema.LIST),
    }

    properties_schema = {
        LABEL: properties.Schema(properties.Schema.STRING, _("What people call it."), update_allowed=True),
        TITLE: properties.Schema(
            properties.Schema.STRING,
            support_status=support.SupportStatus(
                status=support.DEPRECATED,
                message=_("Use property %s.") % LABEL,
                version="5.0.0",
                previous_status=support.SupportStatus(version="2014.1"),
            ),
            update_allowed=True,
        ),
        TAGS: properties.Schema(
            properties.Schema.LIST,
            schema=properties.Schema(properties.Schema.STRING),
            default=[],
            update_allowed=True,
        ),
        TAG: properties.Schema(properties.Schema.STRING, update_allowed=True),
        PEER: properties.Schema(
            properties.Schema.STRING,
            _("Another network, by name or id."),
            constraints=[constraints.CustomConstraint("fakecloud.thing")],
            update_allowed=True,
        ),
        ZONE: properties.Schema(properties.Schema.STRING, default="here", immutable=True),
    }

    default_client_name = "fakecloud"

    entity = "things"

    def translation_rules(self, props):
        return [
            translation.TranslationRule(
                props, translation.TranslationRule.REPLACE, [self.LABEL], value_path=[self.TITLE]
            ),
            translation.TranslationRule(
                props, translation.TranslationRule.ADD, [self.TAGS], value_path=[self.TAG]
            ),
            translation.TranslationRule(
                props,
                translation.TranslationRule.RESOLVE,
                [self.PEER],
                client_plugin=self.client_plugin(),
                finder="find_thing",
            ),
        ]

    def _arguments(self, props):
        return dict((key, props[key]) for key in (self.LABEL, self.TAGS, self.PEER, self.ZONE))

    def handle_create(self):
        network = self.client().things.create(
            self.physical_resource_name(),
            "Network",
            self.stack.name + "/" + self.name,
            **self._arguments(self.properties),
        )
        self.resource_id_set(network.id)

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        if prop_diff:
            wanted = dict(
                (key, value) for key, value in prop_diff.items() if key in (self.LABEL, self.TAGS, self.PEER)
            )
            self.client().things.update(self.resource_id, **wanted)

    def _resolve_attribute(self, name):
        if name == self.REQUIRED_BY:
            return self.required_by()

    def parse_live_resource_data(self, resource_properties, resource_data):
        return dict((key, resource_data["properties"].get(key)) for key in (self.LABEL, self.TAGS))


def resource_mapping():
    return {"My::Cloud::Network": Network}
