# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::SoftwareDeployment: a config, run on a server in each action that asks for it.

For each run a config is derived, with the values of the inputs in it.  The
server finds it among its metadata, runs it, and answers by a signal, or by a
change of the deployment through the API; nothing is polled meanwhile.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from heatconv import errors
from heatconv.model import software as model
from heatconv.model.ids import new_id
from heatconv.model.states import Action, Status
from heatconv.resources import attributes, constraints, exception, properties, support
from heatconv.resources.heat import derived_config
from heatconv.resources.heat.software_component import COMPONENT
from heatconv.resources.heat.software_config import UNGROUPED, OfSoftware
from heatconv.resources.i18n import _
from heatconv.resources.own_user import OwnUser
from heatconv.resources.resource import NoActionRequired, PollDelay

#: Seconds after which to look whether the server has answered, in case no message came.
PATIENCE = 60

#: The properties of transports that cannot be had.
_NEEDED = {"TEMP_URL_SIGNAL": "temporary URLs of Swift", "ZAQAR_SIGNAL": "queues of Zaqar"}

#: The inputs that a server logs in by, to answer as a user.
_LOGIN = {
    "auth_url": _("Where its user logs in."),
    "username": _("The name of the user."),
    "user_id": _("The id of the user."),
    "password": _("The password of the user."),
    "project_id": _("The project of the user."),
    "region_name": _("The region in which the user finds the service."),
}

Properties = properties.Properties


class SoftwareDeployment(OwnUser, OfSoftware):
    """A config that is run on a server, and the result of that."""

    support_status = support.SupportStatus(version="2014.1")
    no_signal_actions = ()
    signal_needs_metadata_updates = False

    CONFIG, SERVER, INPUT_VALUES, DEPLOY_ACTIONS, NAME, SIGNAL_TRANSPORT = (
        "config",
        "server",
        "input_values",
        "actions",
        "name",
        "signal_transport",
    )
    TRANSPORTS = (CFN_SIGNAL, TEMP_URL_SIGNAL, HEAT_SIGNAL, NO_SIGNAL, ZAQAR_SIGNAL) = (
        "CFN_SIGNAL",
        "TEMP_URL_SIGNAL",
        "HEAT_SIGNAL",
        "NO_SIGNAL",
        "ZAQAR_SIGNAL",
    )
    ATTRIBUTES = (STDOUT, STDERR, STATUS_CODE) = model.OUTPUTS

    properties_schema = {
        CONFIG: properties.Schema(
            properties.Schema.STRING, _("The id of the config to run."), update_allowed=True
        ),
        SERVER: properties.Schema(
            properties.Schema.STRING, _("The id of the server to run it on."), required=True
        ),
        INPUT_VALUES: properties.Schema(
            properties.Schema.MAP, _("What the config takes, by the input's name."), update_allowed=True
        ),
        DEPLOY_ACTIONS: properties.Schema(
            properties.Schema.LIST,
            _("In which actions on the resource the config is run; one of a component says so itself."),
            default=["CREATE", "UPDATE"],
            constraints=[constraints.AllowedValues(["CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME"])],
            update_allowed=True,
        ),
        NAME: properties.Schema(
            properties.Schema.STRING,
            _("The name of what is derived for a server, which gets all it is to run in order of names."),
            update_allowed=True,
        ),
        SIGNAL_TRANSPORT: properties.Schema(
            properties.Schema.STRING,
            _("How the server answers; with NO_SIGNAL it need not."),
            default=CFN_SIGNAL,
            constraints=[constraints.AllowedValues(list(TRANSPORTS))],
        ),
    }

    attributes_schema = {
        STDOUT: attributes.Schema(_("What the run wrote to its standard output."), type="String"),
        STDERR: attributes.Schema(_("What the run wrote to its standard error."), type="String"),
        STATUS_CODE: attributes.Schema(_("The exit code of the run."), type="String"),
    }

    def validate(self) -> None:
        super().validate()
        transport = self.properties[self.SIGNAL_TRANSPORT]
        if transport in _NEEDED:
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties", self.SIGNAL_TRANSPORT],
                message=f"{transport} takes {_NEEDED[transport]}, which are not to be had here; "
                "use CFN_SIGNAL, HEAT_SIGNAL or NO_SIGNAL.",
            )

    # -- actions --------------------------------------------------------------------------

    @classmethod
    def awaited(cls, token: Any) -> str | None:  # noqa: ARG003 - the same whatever is run
        return "the answer of its server about the software that it is to run"

    def handle_create(self) -> None:
        self._deploy(Action.CREATE, self.properties)

    def find_existing(self) -> str | None:
        found = self.software.find_deployment(self.kept_id)
        return None if found is None else found.id

    def check_create_complete(self, token: Any) -> bool:
        return self._has_run(Action.CREATE)

    def needs_replace_with_prop_diff(
        self, changed_properties_set: set[str], after_props: Properties, before_props: Properties
    ) -> bool:
        run = self.software.find_deployment(self.kept_id)
        if run is None or not changed_properties_set & {self.CONFIG, self.INPUT_VALUES}:
            return False
        before = self.software.get_config(run.config_id)
        wanted = self._config(after_props)
        values = after_props[self.INPUT_VALUES] or {}
        return derived_config.replaces(before.inputs, derived_config.inputs(wanted.inputs, values))

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]) -> None:
        if prop_diff:
            self._deploy(Action.UPDATE, self.parse_properties(json_snippet.definition))

    def check_update_complete(self, token: Any) -> bool:
        return self._has_run(Action.UPDATE)

    def handle_suspend(self) -> None:
        self._deploy(Action.SUSPEND, self.properties)

    def check_suspend_complete(self, token: Any) -> bool:
        return self._has_run(Action.SUSPEND)

    def handle_resume(self) -> None:
        self._deploy(Action.RESUME, self.properties)

    def check_resume_complete(self, token: Any) -> bool:
        return self._has_run(Action.RESUME)

    def handle_delete(self) -> None:
        deployed = self.software.find_deployment(self.kept_id) is not None
        if deployed or self._is_to_be_run_first_now():
            # Without its config there is nothing to run.
            with contextlib.suppress(errors.NotFound):
                self._deploy(Action.DELETE, self.properties)

    def check_delete_complete(self, token: Any) -> bool:
        if self.software.find_deployment(self.kept_id) is not None and self._has_run(Action.DELETE):
            with contextlib.suppress(errors.NotFound):
                self.software.delete_deployment(self.kept_id)
        return True

    def _is_to_be_run_first_now(self) -> bool:
        """Tell whether it is there and was in no action to be run so far."""
        there = self.action is not Action.CREATE or self.status is Status.COMPLETE
        return there and self.resource_id is None

    def _cancel(self, token: Any) -> None:
        """Wait for the server's answer no more."""
        run = self.software.find_deployment(self.kept_id)
        if run is not None:
            cancelled = {"status": Status.FAILED, "status_reason": "Deployment cancelled."}
            self.software.try_finish(run, cancelled)

    handle_create_cancel = handle_update_cancel = handle_delete_cancel = _cancel
    handle_suspend_cancel = handle_resume_cancel = _cancel

    # -- the server's answer ---------------------------------------------------------------

    def handle_signal(self, details: Any = None) -> str:
        run = self.software.find_deployment(self.kept_id)
        if run is None or run.status != Status.IN_PROGRESS:
            raise NoActionRequired(self.name, "nothing is being run")
        answer = derived_config.answer(self.software.get_config(run.config_id), details or {})
        ending = {
            "output_values": {**(run.output_values or {}), **answer.outputs},
            "status": Status.FAILED if answer.faults else Status.COMPLETE,
            "status_reason": ", ".join(answer.faults) or "Outputs received",
        }
        if not self.software.try_finish(run, ending):
            raise NoActionRequired(self.name, "the run has ended meanwhile")
        return f"deployment {run.id} {'failed' if answer.faults else 'succeeded'}"

    def get_attribute(self, key: str, *path: str | int) -> Any:
        """Return an output of the last run that had it; None before.

        Raises:
            InvalidTemplateAttribute: the config has no such output.
        """
        if key == self.SHOW:
            return super().get_attribute(key, *path)
        run = self.software.find_deployment(self.kept_id)
        values = (run.output_values if run is not None else None) or {}
        if key in values:
            return attributes.select_from_attribute(values[key], path)
        if key not in self.ATTRIBUTES and all(item["name"] != key for item in self._outputs()):
            raise exception.InvalidTemplateAttribute(resource=self.name, key=key)
        return None

    def _outputs(self) -> list[Mapping[str, Any]]:
        try:
            return list(self._config(self.properties).outputs)
        except errors.NotFound:
            return []

    def _has_run(self, action: Action) -> bool:
        """Tell whether the run of an action is over; an action without a run is.

        Raises:
            PollDelay: it is not.
            Error: it failed, or is not there any more.
        """
        if self.resource_id is None:
            return True
        run = self.software.find_deployment(self.resource_id)
        if run is None:
            raise exception.Error(f"The Software Deployment {self.resource_id} was deleted while it was run.")
        if run.action != action or run.status == Status.COMPLETE:
            return True
        if run.status == Status.FAILED:
            raise exception.Error(f"Deployment to server failed: {run.status_reason}")
        raise PollDelay(PATIENCE)

    # -- what is run -----------------------------------------------------------------------

    def _deploy(self, action: Action, given: Properties) -> None:
        """Have the config run by the server, if it is to be run in an action."""
        config = self._config(given)
        if action not in _actions(config, given[self.DEPLOY_ACTIONS]):
            return
        if self._has_user(given):
            self._create_user()
        derived = self._derived(action, config, given)
        silent = given[self.SIGNAL_TRANSPORT] == self.NO_SIGNAL
        run = model.SoftwareDeployment(
            id=self.kept_id,
            server_id=given[self.SERVER],
            config_id=derived.id,
            input_values=given[self.INPUT_VALUES],
            action=action,
            status=Status.COMPLETE if silent else Status.IN_PROGRESS,
            status_reason="Not waiting for outputs signal" if silent else "Deploy data available",
        )
        self.software.deploy(run, derived)
        if self.resource_id is None:
            self.resource_id_set(run.id)

    def _has_user(self, given: Properties) -> bool:
        """Tell whether the server answers as a user that the deployment has; else it does by a signed URL."""
        return given[self.SIGNAL_TRANSPORT] == self.HEAT_SIGNAL and self.has_stack_users()

    def _config(self, given: Properties) -> model.SoftwareConfig:
        config_id = given[self.CONFIG]
        return self.software.get_config(config_id) if config_id else model.SoftwareConfig(id="")

    def _derived(
        self, action: Action, config: model.SoftwareConfig, given: Properties
    ) -> model.SoftwareConfig:
        values = derived_config.inputs(config.inputs, given[self.INPUT_VALUES] or {})
        values += self._own_inputs(action, given)
        derived = model.SoftwareConfig(
            id=new_id(),
            name=given[self.NAME] or config.name or self.physical_resource_name(),
            group=config.group or UNGROUPED,
            config=self._filled_in(config.config, values, given),
            inputs=values,
            outputs=config.outputs,
            options=config.options,
        )
        return derived_config.with_digest(derived, given[self.INPUT_VALUES])

    def _filled_in(self, config: Any, inputs: list[dict[str, Any]], given: Properties) -> Any:
        """Return what is run: the config as it is; its tool knows what to do with the inputs."""
        return config or ""

    def _own_inputs(self, action: Action, given: Properties) -> list[dict[str, Any]]:
        """Return the inputs that describe a run itself, and where its server is to answer."""
        transport = given[self.SIGNAL_TRANSPORT]
        undeclared = derived_config.undeclared
        own = [
            undeclared("deploy_server_id", given[self.SERVER], _("The id of the server it is run on.")),
            undeclared("deploy_action", str(action), _("The action it is run in.")),
            undeclared(
                "deploy_stack_id", self.stack.identifier().stack_path(), _("The stack the deployment is in.")
            ),
            undeclared("deploy_resource_name", self.name, _("The name of the deployment in its template.")),
            undeclared("deploy_signal_transport", transport, _("How the server is to answer.")),
        ]
        if transport == self.NO_SIGNAL:
            return own
        if self._has_user(given):
            login = self._get_heat_signal_credentials()
            return own + [
                undeclared(f"deploy_{name}", login[name], description) for name, description in _LOGIN.items()
            ]
        return [
            *own,
            # Of this very incarnation: one that is deleted has its name no more, but still a run to end.
            undeclared(
                derived_config.SIGNAL_ID, self.stack.signal_url(self.uuid), _("Where it is to answer.")
            ),
            undeclared(derived_config.SIGNAL_VERB, "POST", _("The HTTP verb to answer with.")),
        ]


def _actions(config: model.SoftwareConfig, actions: list[str]) -> set[str]:
    """Return the actions in which a config is run: as the deployment says, or the component itself."""
    if config.group != COMPONENT:
        return set(actions)
    return {action for part in config.config["configs"] for action in part["actions"]}
