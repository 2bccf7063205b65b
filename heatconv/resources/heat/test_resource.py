# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::TestResource: a resource that takes, fails and replaces as it is told."""

from __future__ import annotations

import time
from typing import Any

from heatconv.resources import attributes, constraints, exception, properties, resource, support
from heatconv.resources.common_constraints import Judge
from heatconv.resources.i18n import _

MOST_SECS = 60  #: that reading or validating is said to take


class SlowConstraint(Judge):
    """``test_constr``: a check of how many seconds a check is to take; the action of the resource takes them.

    Who validates holds a thread that others wait for.
    """

    def judge(self, value: Any) -> None:
        if not isinstance(value, int | float) or not 0 <= value <= MOST_SECS:
            raise ValueError(f"{value!r} is not a number of seconds from 0 to {MOST_SECS}")


class TestResource(resource.Resource):
    """A resource that exists in the engine only and does what its properties say.

    A wait is a point in time in the token, so that it goes on where it was
    when another worker takes over, and no thread is held by it.
    """

    __test__ = False  # not a test, whatever the name says

    support_status = support.SupportStatus(version="5.0.0")
    only_here = True
    notes_may_wait = True
    compares_alone = True

    PROPERTIES = (
        VALUE,
        UPDATE_REPLACE,
        UPDATE_REPLACE_VALUE,
        FAIL,
        WAIT_SECS,
        ACTION_WAIT_SECS,
        ATTR_WAIT_SECS,
        CONSTRAINT_PROP_SECS,
        CLIENT_NAME,
        ENTITY_NAME,
    ) = (
        "value",
        "update_replace",
        "update_replace_value",
        "fail",
        "wait_secs",
        "action_wait_secs",
        "attr_wait_secs",
        "constraint_prop_secs",
        "client_name",
        "entity_name",
    )

    ATTRIBUTES = (OUTPUT,) = ("output",)

    _seconds = properties.Schema(
        properties.Schema.NUMBER, _("Seconds the action takes."), update_allowed=True
    )

    properties_schema = {
        VALUE: properties.Schema(
            properties.Schema.STRING,
            _("The text that the attribute output gives back."),
            default="test_string",
            update_allowed=True,
        ),
        UPDATE_REPLACE: properties.Schema(
            properties.Schema.BOOLEAN,
            _("Whether an update that turns this on replaces the resource."),
            default=False,
            update_allowed=True,
        ),
        UPDATE_REPLACE_VALUE: properties.Schema(
            properties.Schema.STRING, _("A text whose change replaces the resource.")
        ),
        FAIL: properties.Schema(
            properties.Schema.BOOLEAN,
            _("Whether creating or updating the resource fails."),
            default=False,
            update_allowed=True,
        ),
        WAIT_SECS: properties.Schema(
            properties.Schema.NUMBER,
            _("Seconds that create, update and delete take."),
            default=0,
            update_allowed=True,
        ),
        ACTION_WAIT_SECS: properties.Schema(
            properties.Schema.MAP,
            _("Seconds by action, where they differ from wait_secs."),
            schema={"create": _seconds, "update": _seconds, "delete": _seconds},
            update_allowed=True,
        ),
        ATTR_WAIT_SECS: properties.Schema(
            properties.Schema.NUMBER,
            _("Seconds that create and update take longer if an attribute is referred to; 60 at the most."),
            default=0,
            update_allowed=True,
        ),
        CONSTRAINT_PROP_SECS: properties.Schema(
            properties.Schema.NUMBER,
            _("Seconds that create and update take longer; 60 at the most."),
            default=0,
            constraints=[constraints.CustomConstraint("test_constr")],
            update_allowed=True,
        ),
        CLIENT_NAME: properties.Schema(
            properties.Schema.STRING,
            _("The client to ask for a list of entity_name when a create or an update ends."),
            default="",
            update_allowed=True,
        ),
        ENTITY_NAME: properties.Schema(
            properties.Schema.STRING,
            _("What to list with the client."),
            default="",
            update_allowed=True,
        ),
    }

    attributes_schema = {
        OUTPUT: attributes.Schema(
            _("The text of the property value."),
            cache_mode=attributes.Schema.CACHE_NONE,
        ),
    }

    def validate(self) -> None:
        super().validate()
        name = self.properties[self.CLIENT_NAME]
        if name and self.properties[self.ENTITY_NAME]:
            try:
                self.client_plugin(name)
            except exception.ClientNotAvailable as error:
                path = ["resources", self.name, "properties", self.CLIENT_NAME]
                raise exception.StackValidationFailed(path=path, message=str(error)) from None

    def handle_create(self) -> Any:
        self.resource_id_set(self.physical_resource_name())
        return self._begin("create", self.properties)

    def check_create_complete(self, token: Any) -> bool:
        if token is None and (seconds := self._wait_secs("create", self.properties)) > 0:
            # The wait was lost with the worker that began it; how it was to end was not.
            self._finish(self._token(seconds, self.properties))
        return self._end(token)

    def needs_replace_with_prop_diff(
        self,
        changed_properties_set: set[str],
        after_props: properties.Properties,
        before_props: properties.Properties,
    ) -> bool:
        return self.UPDATE_REPLACE in changed_properties_set and bool(after_props[self.UPDATE_REPLACE])

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> Any:
        wanted = json_snippet.properties(self.properties_schema, self.context)
        if self.VALUE in prop_diff:
            self.data_set("value", wanted[self.VALUE])
        return self._begin("update", wanted)

    def check_update_complete(self, token: Any) -> bool:
        return self._end(token)

    def handle_delete(self) -> Any:
        return self._begin("delete", self.properties, may_fail=False)

    def check_delete_complete(self, token: Any) -> bool:
        return self._end(token)

    def handle_check(self) -> None:
        """Find the resource healthy: there is nothing that could have broken."""

    def _resolve_attribute(self, name: str) -> Any:
        # A note is there once an update has changed the value; before, the definition tells it.
        return self.data().get("value", self.properties[self.VALUE])

    def _begin(self, action: str, wanted: properties.Properties, *, may_fail: bool = True) -> Any:
        """Return the token of a wait; None, or the failure, at once if there is none."""
        seconds = self._wait_secs(action, wanted)
        token = self._token(seconds, wanted, may_fail=may_fail)
        if seconds > 0:
            return token
        self._finish(token)
        return None

    def _token(
        self, seconds: float, wanted: properties.Properties, *, may_fail: bool = True
    ) -> dict[str, Any]:
        return {
            "until": time.time() + seconds,
            "fail": may_fail and wanted[self.FAIL],
            "list": [wanted[self.CLIENT_NAME], wanted[self.ENTITY_NAME]] if may_fail else ["", ""],
        }

    def _wait_secs(self, action: str, wanted: properties.Properties) -> float:
        own = (wanted[self.ACTION_WAIT_SECS] or {}).get(action)
        seconds: float = wanted[self.WAIT_SECS] if own is None else own
        if action == "delete":
            return seconds
        reading = wanted[self.ATTR_WAIT_SECS] or 0
        if reading and not self.referenced_attrs():
            reading = 0
        judging = wanted[self.CONSTRAINT_PROP_SECS] or 0
        return seconds + min(reading, MOST_SECS) + min(judging, MOST_SECS)

    def _end(self, token: Any) -> bool:
        """Tell whether a wait is over, or when it will be."""
        if token is None:
            return True
        left = token["until"] - time.time()
        if left > 0:
            raise resource.PollDelay(left)
        self._finish(token)
        return True

    def _finish(self, token: dict[str, Any]) -> None:
        client, entity = token["list"]
        if client and entity:
            getattr(self.client(client), entity).list()
        if token["fail"]:
            raise ValueError(f"Test Resource failed {self.name}")
