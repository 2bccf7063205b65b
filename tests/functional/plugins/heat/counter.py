# SPDX-License-Identifier: Apache-2.0
"""A counter of signals."""

from heat.common.i18n import _
from heat.engine import attributes
from heat.engine import properties
from heat.engine import resource
from heat.engine.resources import signal_responder


class Counter(signal_responder.SignalResponder):
    PROPERTIES = (STEP,) = ("step",)

    ATTRIBUTES = (URL,) = ("url",)

    properties_schema = {
        STEP: properties.Schema(properties.Schema.INTEGER, default=1, update_allowed=True),
    }

    attributes_schema = {
        URL: attributes.Schema(_("Where signals go."), type=attributes.Schema.STRING),
    }

    default_client_name = "fakecloud"

    entity = "things"

    signal_needs_metadata_updates = False

    def handle_create(self):
        super(Counter, self).handle_create()
        counter = self.client().things.create(
            self.physical_resource_name(), "Counter", self.stack.name + "/" + self.name, count=0
        )
        self.resource_id_set(counter.id)

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        pass

    def handle_signal(self, details=None):
        if details and details.get("ignore"):
            raise resource.NoActionRequired(self.name, _("it was asked to"))
        if details and "step" in details:
            raise ValueError(_("the step is not up to you"))
        count = self.client().things.get(self.resource_id).properties["count"]
        self.client().things.update(self.resource_id, count=count + self.properties[self.STEP])
        return _("counted from %d") % count

    def _resolve_attribute(self, name):
        return self._get_signed_url()


def resource_mapping():
    return {"My::Cloud::Counter": Counter}
