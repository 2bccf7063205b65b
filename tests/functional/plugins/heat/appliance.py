# SPDX-License-Identifier: Apache-2.0
"""Appliances, of which nothing can be found but by the token: there is no way to search for one."""

from heat.common import exception
from heat.common.i18n import _
from heat.engine import attributes
from heat.engine import properties
from heat.engine import resource

STEPS = ("made", "formatted", "attached")


class Sealed(resource.Resource):
    """An appliance that is made in steps; nobody can look into it."""

    PROPERTIES = (VALUE, FLAVOR, USES, WAIT) = ("value", "flavor", "uses", "wait")

    ATTRIBUTES = (VALUE_ATTR,) = ("value",)

    properties_schema = {
        VALUE: properties.Schema(properties.Schema.STRING, default="", update_allowed=True),
        FLAVOR: properties.Schema(properties.Schema.STRING, default="small"),
        USES: properties.Schema(properties.Schema.LIST, default=[], update_allowed=True),
        WAIT: properties.Schema(properties.Schema.NUMBER, default=0, update_allowed=True),
    }

    attributes_schema = {
        VALUE_ATTR: attributes.Schema(_("The value."), type=attributes.Schema.STRING),
    }

    default_client_name = "fakecloud"

    IMAGE = "Fake::Cloud::Snapshot"

    # What a token is; other appliances have other ones.

    def _token(self, thing_id, **more):
        return dict(more, id=thing_id)

    def _read(self, token):
        return token

    def _things(self):
        return self.client().things

    def _send(self, **wanted):
        self._things().update(self.resource_id, wait=self.properties[self.WAIT], **wanted)

    def handle_create(self):
        made = self._things().create(
            self.physical_resource_name(),
            self.type(),
            self.stack.name + "/" + self.name,
            wait=self.properties[self.WAIT],
            value=self.properties[self.VALUE],
            flavor=self.properties[self.FLAVOR],
            uses=self.properties[self.USES],
            step=STEPS[0],
        )
        self.resource_id_set(made.id)
        return self._token(made.id, to_do=list(STEPS[1:]))

    def check_create_complete(self, token):
        known = self._read(token)
        thing = self._things().get(known["id"])
        if thing.status == "ERROR":
            raise exception.ResourceInError(resource_status=thing.status, status_reason=_("no space"))
        if thing.status != "ACTIVE":
            return False
        if not known["to_do"]:
            return True
        self._send(step=known["to_do"].pop(0))
        return False

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        wanted = dict((key, prop_diff[key]) for key in (self.VALUE, self.USES) if key in prop_diff)
        if wanted:
            self._send(**wanted)
        return self._token(self.resource_id, wanted=wanted)

    def check_update_complete(self, token):
        known = self._read(token)
        thing = self._things().get(known["id"])
        arrived = all(thing.properties[key] == value for key, value in known["wanted"].items())
        return arrived and thing.status == "ACTIVE"

    def handle_delete(self):
        if self.resource_id is None:
            return None
        with self.client_plugin().ignore_not_found:
            self._things().delete(self.resource_id)
            return self._token(self.resource_id)

    def check_delete_complete(self, token):
        if token is None:
            return True
        with self.client_plugin().ignore_not_found:
            self._things().get(self._read(token)["id"])
            return False
        return True

    def handle_suspend(self):
        self._send(power="off")
        return self._token(self.resource_id, power="off")

    def check_suspend_complete(self, token):
        known = self._read(token)
        thing = self._things().get(known["id"])
        return thing.status == "ACTIVE" and thing.properties["power"] == known["power"]

    def handle_resume(self):
        self._send(power="on")
        return self._token(self.resource_id, power="on")

    def check_resume_complete(self, token):
        return self.check_suspend_complete(token)

    def handle_snapshot(self):
        image = self._things().create(
            self.physical_resource_name() + "-image",
            self.IMAGE,
            self.stack.name + "/" + self.name,
            value=self.properties[self.VALUE],
        )
        self.data_set("image_id", image.id)
        return self._token(image.id)

    def check_snapshot_complete(self, token):
        return self._things().get(self._read(token)["id"]).status == "ACTIVE"

    def handle_delete_snapshot(self, snapshot):
        image_id = snapshot["resource_data"].get("image_id")
        if image_id is None:
            return None
        self._things().delete(image_id)
        return self._token(image_id)

    def check_delete_snapshot_complete(self, token):
        return self.check_delete_complete(token)

    def handle_restore(self, defn, restore_data):
        image = self._things().get(restore_data["resource_data"]["image_id"])
        props = dict((key, value) for key, value in self.properties.data.items() if value is not None)
        props[self.VALUE] = image.properties["value"]
        return defn.freeze(properties=props)

    def handle_adopt(self, resource_data):
        self._things().get(resource_data["resource_id"])
        self.resource_id_set(resource_data["resource_id"])
        return self._token(resource_data["resource_id"])

    def check_adopt_complete(self, token):
        return self._things().get(self._read(token)["id"]).status == "ACTIVE"

    def _resolve_attribute(self, name):
        return self._things().get(self.resource_id).properties["value"]


class Appliance(Sealed):
    """An appliance that can be looked into: it tells what it was made of, and whether it is well."""

    def handle_check(self):
        thing = self._things().get(self.resource_id)
        self._verify_check_conditions(
            [
                {"attr": "status", "expected": "ACTIVE", "current": thing.status},
                {"attr": "step", "expected": STEPS[-1], "current": thing.properties["step"]},
            ]
        )
        return self._token(self.resource_id)

    def check_check_complete(self, token):
        return self._things().get(self._read(token)["id"]).status == "ACTIVE"

    def get_live_resource_data(self):
        try:
            return self._things().get(self.resource_id).to_dict()
        except Exception as ex:
            self.client_plugin().ignore_not_found(ex)
            raise exception.EntityNotFound(entity="Resource", name=self.name)

    def parse_live_resource_data(self, resource_properties, resource_data):
        live = resource_data["properties"]
        return dict(
            ((key, live[key]) for key in (self.VALUE, self.FLAVOR, self.USES)),
            wait=resource_properties[self.WAIT],
        )


class Progress(object):
    """What an action that is under way has to know, in Heat's manner: an object that no JSON can hold."""

    def __init__(self, known):
        self.known = known


class Relic(Appliance):
    """An appliance whose tokens are objects."""

    def _token(self, thing_id, **more):
        return Progress(dict(more, id=thing_id))

    def _read(self, token):
        return token.known


class Pair(Sealed):
    """An appliance whose tokens are tuples."""

    def _token(self, thing_id, **more):
        return thing_id, more

    def _read(self, token):
        if not isinstance(token, tuple):
            raise TypeError(_("%r is no token of this type") % (token,))
        thing_id, more = token
        return _Joined(more, thing_id)


class _Joined(object):
    """The parts of a tuple by name; what is taken out of one is taken out of the tuple."""

    def __init__(self, more, thing_id):
        self._more = more
        self._id = thing_id

    def __getitem__(self, key):
        return self._id if key == "id" else self._more[key]


class Plain(Sealed):
    """An appliance that is made at once, by two calls; there is no token."""

    def handle_create(self):
        super(Plain, self).handle_create()
        for step in STEPS[1:]:
            self._things().update(self.resource_id, step=step)

    def check_create_complete(self, token):
        return True


class Exclusive(Appliance):
    """An appliance whose value no two can have: it goes to what replaces it, and comes back."""

    def prepare_for_replace(self):
        if self.resource_id is None:
            return
        with self.client_plugin().ignore_not_found:
            self.data_set("had", self._things().get(self.resource_id).properties["value"])
            self._things().update(self.resource_id, value="")

    def restore_prev_rsrc(self, convergence=False):
        replacement, _owner, _stack = resource.Resource.load(
            self.context,
            self.replaced_by,
            self.stack.current_traversal,
            True,
            self.stack.defn._resource_data,
        )
        if replacement.resource_id:
            with self.client_plugin().ignore_not_found:
                if self._things().get(replacement.resource_id).status == "BUILD":
                    raise resource.PollDelay(1)
                self._things().update(replacement.resource_id, value="")
        if "had" in self.data():
            self._things().update(self.resource_id, value=self.data()["had"])


def resource_mapping():
    return {
        "My::Cloud::Appliance": Appliance,
        "My::Cloud::Sealed": Sealed,
        "My::Cloud::Relic": Relic,
        "My::Cloud::Pair": Pair,
        "My::Cloud::Plain": Plain,
        "My::Cloud::Exclusive": Exclusive,
    }
