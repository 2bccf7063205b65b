# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::Stack: a stack of another region, or of another cloud, by that one's orchestration service."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from heatclient import client as heatclient
from keystoneauth1 import loading
from keystoneauth1.exceptions import ClientException
from keystoneauth1.session import Session

from heatconv.openstack.stand_ins.resource import Resource
from heatconv.resources import attributes, exception, properties, support
from heatconv.resources.i18n import _
from heatconv.resources.resource import UpdateReplace
from heatconv.resources.rsrc_defn import ResourceDefinition

_schema = properties.Schema
_since = support.SupportStatus(version="12.0.0")

SERVICE = "orchestration"


class NotReached(exception.StackValidationFailed):
    """The service of another region is not there; Heat's clients look for the start of the sentence."""

    names_place = True

    def __init__(self, region: str | None, reason: str, place: Sequence[str]) -> None:
        sentence = _(
            'Cannot establish connection to Heat endpoint at region "%(region)s" due to "%(reason)s"'
        )
        where = exception.path_text(place)
        super().__init__(message=f"{sentence % {'region': region, 'reason': reason}}, see {where}.")


class RemoteStack(Resource):
    """A stack that is made, changed and deleted elsewhere, by the name that is unique here.

    It is given the environment and the files that a nested stack would inherit.  Whether
    its template is right is for its own service to say, when it is made or changed.
    """

    default_client_name = "heat"
    entity = "stacks"

    PROPERTIES = (CONTEXT, TEMPLATE, TIMEOUT, PARAMETERS) = ("context", "template", "timeout", "parameters")
    REGION_NAME, CREDENTIAL_SECRET_ID, CA_CERT, SSL_INSECURE = (
        "region_name",
        "credential_secret_id",
        "ca_cert",
        "insecure",
    )
    ATTRIBUTES = (STACK_NAME, OUTPUTS) = ("stack_name", "outputs")

    properties_schema = {
        CONTEXT: _schema(
            _schema.MAP,
            _("Where the stack is, and who acts for it there."),
            schema={
                REGION_NAME: _schema(_schema.STRING, _("The region; by default the one of this stack.")),
                CREDENTIAL_SECRET_ID: _schema(
                    _schema.STRING,
                    _("A secret in Barbican: the JSON text of auth_type and auth, for another cloud."),
                    update_allowed=True,
                    support_status=_since,
                ),
                CA_CERT: _schema(
                    _schema.STRING,
                    _("The certificate of who vouches for the other cloud, as PEM."),
                    update_allowed=True,
                    support_status=_since,
                ),
                SSL_INSECURE: _schema(
                    _schema.BOOLEAN,
                    _("Whether the other cloud may be anybody."),
                    default=False,
                    update_allowed=True,
                    support_status=_since,
                ),
            },
            update_allowed=True,
        ),
        TEMPLATE: _schema(
            _schema.STRING, _("The template of the stack, as a text."), required=True, update_allowed=True
        ),
        TIMEOUT: _schema(
            _schema.INTEGER, _("The minutes that an action on the stack may take."), update_allowed=True
        ),
        PARAMETERS: _schema(_schema.MAP, _("The parameters of the stack."), default={}, update_allowed=True),
    }

    attributes_schema = {
        STACK_NAME: attributes.Schema(_("The name of the stack."), type=attributes.Schema.STRING),
        OUTPUTS: attributes.Schema(_("The outputs of the stack, by name."), type=attributes.Schema.MAP),
    }

    def validate(self) -> Any:
        super().validate()
        try:
            self._endpoint()
        except ClientException as error:
            raise self._not_reached(str(error)) from error

    # -- the service ------------------------------------------------------------------------

    def client(self, name: str | None = None, version: str | None = None) -> Any:
        """Return the client of the other orchestration service, or of another service here."""
        return self._heat if name in (None, self.default_client_name) else super().client(name, version)

    @cached_property
    def _heat(self) -> Any:
        return heatclient.Client("1", session=self._session, endpoint_override=self._endpoint())

    def _endpoint(self) -> str:
        """Return where the service is.

        Raises:
            NotReached: it is nowhere.
        """
        found = self._session.get_endpoint(service_type=SERVICE, region_name=self._region)
        if not found:
            raise self._not_reached(_("there is no endpoint of type %s") % SERVICE)
        return str(found)

    def _not_reached(self, reason: str) -> NotReached:
        return NotReached(self._region, reason, ["resources", self.name, "properties", self.CONTEXT])

    @property
    def _region(self) -> str | None:
        region: str | None = self._there.get(self.REGION_NAME) or self.context.region_name
        return region

    @property
    def _there(self) -> Mapping[str, Any]:
        return self.properties[self.CONTEXT] or {}

    @cached_property
    def _session(self) -> Any:
        """The session to act by there: that of this stack's user, unless a property says otherwise."""
        there = self._there
        if not any(there.get(key) for key in (self.CREDENTIAL_SECRET_ID, self.CA_CERT, self.SSL_INSECURE)):
            return self.context.keystone_session
        secret = there.get(self.CREDENTIAL_SECRET_ID)
        login = self._login(secret) if secret else self.context.auth_plugin
        return Session(auth=login, verify=self._verify, timeout=self.context.keystone_session.timeout)

    @property
    def _verify(self) -> bool | str:
        """Whether, or by which file, the other cloud is to prove what it is."""
        if self._there.get(self.SSL_INSECURE):
            return False
        certificate = self._there.get(self.CA_CERT)
        if not certificate:
            return True
        self._kept = tempfile.NamedTemporaryFile("w", suffix=".pem")  # noqa: SIM115 - as long as the plugin
        self._kept.write(certificate)
        self._kept.flush()
        return self._kept.name

    def _login(self, secret: str) -> Any:
        """Return the login that a secret in Barbican describes.

        Raises:
            AuthorizationFailure: it describes none.
        """
        text = super().client_plugin("barbican").get_secret_payload_by_ref(secret_ref=secret)
        try:
            login = json.loads(text)
            return loading.get_plugin_loader(login["auth_type"]).load_from_options(**login["auth"])
        except (ValueError, KeyError, TypeError, ClientException):
            # What it says is a secret: no word of it is repeated.
            reason = _("The secret %s is no JSON text of auth_type and auth.") % secret
            raise exception.Error(reason) from None

    # -- the actions ------------------------------------------------------------------------

    def handle_create(self) -> None:
        made = self._heat.stacks.create(stack_name=self.physical_resource_name(), **self._source())
        self.resource_id_set(made["stack"]["id"])

    def _source(self) -> dict[str, Any]:
        assert self.stack.nested is not None  # noqa: S101 - actions are a worker's, which has it
        inherited = self.stack.nested.inherited(self.name, self.definition.implemented_by)
        sections = ("parameter_defaults", "resource_registry")
        return {
            "template": self.properties[self.TEMPLATE],
            "parameters": self.properties[self.PARAMETERS],
            "timeout_mins": self.properties[self.TIMEOUT],
            "disable_rollback": True,
            "files": dict(inherited.files),
            "environment": {key: inherited.environment.get(key) or {} for key in sections},
        }

    def _needs_update(self, *args: Any, **kwargs: Any) -> bool:
        """Update the stack whatever changed here: its own service decides what that means."""
        super()._needs_update(*args, **kwargs)
        if self.state == (self.CHECK, self.FAILED):
            raise UpdateReplace(self.name)
        return True

    def needs_replace_with_prop_diff(
        self, changed_properties_set: set[str], after_props: Any, before_props: Any
    ) -> bool:
        regions = [(props[self.CONTEXT] or {}).get(self.REGION_NAME) for props in (after_props, before_props)]
        return regions[0] != regions[1]

    def handle_update(self, json_snippet: ResourceDefinition, tmpl_diff: Any, prop_diff: Any) -> None:
        self.become(json_snippet.definition)
        self._heat.stacks.update(stack_id=self.resource_id, **self._source())

    def handle_delete(self) -> str | None:
        if self.resource_id is None:
            return None
        with self.client_plugin().ignore_not_found:
            self._heat.stacks.delete(stack_id=self.resource_id)
        return self.resource_id

    def handle_suspend(self) -> None:
        self._heat.actions.suspend(stack_id=self.resource_id)

    def handle_resume(self) -> None:
        self._heat.actions.resume(stack_id=self.resource_id)

    def handle_check(self) -> None:
        self._heat.actions.check(stack_id=self.resource_id)

    def handle_snapshot(self) -> None:
        self.data_set("snapshot_id", self._heat.stacks.snapshot(stack_id=self.resource_id)["id"])

    def handle_delete_snapshot(self, snapshot: Mapping[str, Any]) -> None:
        snapshot_id = (snapshot.get("resource_data") or {}).get("snapshot_id")
        if snapshot_id:
            with self.client_plugin().ignore_not_found:
                self._heat.stacks.snapshot_delete(self.resource_id, snapshot_id)

    def handle_restore(self, defn: ResourceDefinition, restore_data: Mapping[str, Any]) -> ResourceDefinition:
        snapshot_id = restore_data["resource_data"]["snapshot_id"]
        data = self._heat.stacks.snapshot_show(self.resource_id, snapshot_id)["snapshot"]["data"]
        before = {
            self.TEMPLATE: json.dumps(data["template"]),
            self.PARAMETERS: data["environment"].get("parameters") or {},
        }
        return defn.freeze(properties={**self.definition.properties, **before})

    def _has_ended(self, action: str) -> bool:
        """Tell whether the stack has come to the end of an action.

        Raises:
            ResourceInError: it failed.
        """
        found = self._heat.stacks.get(stack_id=self.resource_id, resolve_outputs=False)
        if found.action != action or found.status == self.IN_PROGRESS:
            return False
        if found.status == self.FAILED:
            raise exception.ResourceInError(
                resource_status=found.stack_status, status_reason=found.stack_status_reason
            )
        return True

    def check_create_complete(self, token: Any) -> bool:
        return self._has_ended(self.CREATE)

    def check_update_complete(self, token: Any) -> bool:
        return self._has_ended(self.UPDATE)

    def check_delete_complete(self, token: Any) -> bool:
        if token is not None:
            with self.client_plugin().ignore_not_found:
                return self._has_ended(self.DELETE)
        return True

    def check_suspend_complete(self, token: Any) -> bool:
        return self._has_ended(self.SUSPEND)

    def check_resume_complete(self, token: Any) -> bool:
        return self._has_ended(self.RESUME)

    def check_snapshot_complete(self, token: Any) -> bool:
        return self._has_ended(self.SNAPSHOT)

    def check_check_complete(self, token: Any) -> bool:
        return self._has_ended(self.CHECK)

    # -- its attributes ------------------------------------------------------------------------

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        found = self._heat.stacks.get(stack_id=self.resource_id)
        if name == self.STACK_NAME:
            return found.stack_name
        return {each["output_key"]: each["output_value"] for each in found.outputs}
