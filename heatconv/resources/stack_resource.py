# SPDX-License-Identifier: Apache-2.0
"""A resource that is a stack of its own.

The nested stack is made, changed and deleted by an engine, like any other, and
wakes the worker that waits for it when it comes to its end; nobody polls.  A
newer wish does not wait for an older one: the nested stack is told of it at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from heatconv import errors
from heatconv.model.definition import Definition
from heatconv.model.failure import ResourceFailure, failed_resource
from heatconv.model.records import Child
from heatconv.model.secrets import found_in
from heatconv.model.states import Action, Status
from heatconv.resources import exception
from heatconv.resources.facts import Identifier
from heatconv.resources.nested import NestedStacks, Outputs
from heatconv.resources.resource import PollDelay, Resource
from heatconv.resources.rsrc_defn import ResourceDefinition

LOOK_AGAIN = 60.0  #: seconds until a worker looks at a nested stack whose end nobody has told it of


class NestedStackFailed(exception.Error):
    """A nested stack failed, and which resource in it."""

    def __init__(self, failure: ResourceFailure) -> None:
        super().__init__(str(failure))
        self.failure = failure


class StackResource(Resource):
    """The base of types that own a stack; a subclass says what is in it.

    ``child_template`` and ``child_params`` are asked for with the properties resolved.
    """

    always_replace_on_check_failed = False
    gives_way: ClassVar[bool] = True
    goes_by_what_it_finds: ClassVar[bool] = True
    asks_engine: ClassVar[bool] = True
    _met: Child | None = None  #: the nested stack as it was when it was last looked at

    def child_template(self) -> Mapping[str, Any] | str:
        """Return the template of the nested stack."""
        raise NotImplementedError

    def child_params(self) -> Mapping[str, Any]:
        """Return the parameters of the nested stack."""
        return {}

    def decide(self, changed: Mapping[str, Any] | None) -> None:
        """Decide what is to be in it now that some properties changed; None is when it is made."""

    @classmethod
    def types_made(
        cls,
        properties: Mapping[str, Any],  # noqa: ARG003 - for those who override it
    ) -> dict[str, tuple[str, str]]:
        """Return the types of the resources in it that properties, as given, name: by path, with a name."""
        return {}

    @classmethod
    def size_made(
        cls,
        properties: Mapping[str, Any],  # noqa: ARG003 - for those who override it
    ) -> int:
        """Return how many resources there will be in it; 0 if properties, as given, do not tell."""
        return 0

    @classmethod
    def properties_made(
        cls,
        properties: Mapping[str, Any],  # noqa: ARG003 - for those who override it
    ) -> Mapping[str, Any]:
        """Return what properties, as given, say of the properties of each resource in it."""
        return {}

    # -- the nested stack -----------------------------------------------------------------

    @property
    def nested_stacks(self) -> NestedStacks:
        """The stacks of this stack's resources.

        Raises:
            NotSupported: there is nobody here who could make one.
        """
        if self.stack.nested is None:
            raise exception.NotSupported(feature=f"Looking into the nested stack of {self.name} here")
        return self.stack.nested

    def nested(self) -> Child | None:
        """Return the nested stack as it is now; None if there is none."""
        child = self.nested_stacks.find(self.uuid)
        self._met = None if child is None or child.deleted else child
        return self._met

    def has_nested(self) -> bool:
        """Tell whether there is a nested stack."""
        return self.nested() is not None

    def nested_identifier(self) -> Identifier | None:
        """Return the way to the nested stack."""
        child = self._met or self.nested_stacks.find(self.uuid)
        return None if child is None else Identifier(child.project_id, child.name, child.id)

    def find_existing(self) -> str | None:
        """Return the id of the nested stack that an interrupted create made."""
        child = self.nested()
        return None if child is None else child.id

    def create_with_template(
        self,
        child_template: Mapping[str, Any] | str,
        user_params: Mapping[str, Any] | None = None,
        timeout_mins: int | None = None,
    ) -> str:
        """Start to create the nested stack, or to make the one there is match."""
        source = self._source(child_template, user_params)
        timeout = timeout_mins or self.stack.timeout_mins
        child = self.nested()
        if child is None:
            stack_id = self.nested_stacks.create(str(self.physical_resource_name()), source, timeout)
        else:  # a create that was interrupted may have been of another template, and nobody knows its id
            stack_id = child.id
            self.nested_stacks.update(stack_id, source, timeout)
        if stack_id != self.resource_id:
            self.resource_id_set(stack_id)
        return stack_id

    def update_with_template(
        self,
        child_template: Mapping[str, Any] | str,
        user_params: Mapping[str, Any] | None = None,
        timeout_mins: int | None = None,
    ) -> str:
        """Start to make the nested stack match another template; one that is gone is made anew."""
        return self.create_with_template(child_template, user_params, timeout_mins)

    def planned_source(self, changed: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return what the nested stack would be made of now; ``changed`` is that of ``decide``."""
        self.decide(changed)
        return self._source(self.child_template(), self.child_params())

    def _source(
        self, child_template: Mapping[str, Any] | str, user_params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        inherited = self.nested_stacks.inherited(self.name, self.definition.implemented_by)
        parameters = dict(user_params or {})
        environment = dict(inherited.environment)
        if secret := self._secret_among(parameters, child_template):
            known = environment.get("encrypted_param_names") or ()
            environment["encrypted_param_names"] = sorted(secret.union(known))
        return {
            "template": child_template,
            "parameters": parameters,
            "environment": environment,
            "files": dict(inherited.files),
            "facade": {
                "metadata": dict(self.definition.metadata),
                "deletion_policy": self.definition.deletion_policy,
                "update_policy": dict(self.definition.update_policy),
            },
        }

    def _secret_among(
        self, parameters: Mapping[str, Any], child_template: Mapping[str, Any] | str
    ) -> set[str]:
        """Return the parameters that have a secret of this resource, and are not hidden by a group itself."""
        secrets = self.definition.secrets
        declared = {} if isinstance(child_template, str) else child_template.get("parameters") or {}
        return {
            name
            for name, value in parameters.items()
            if secrets and not declared.get(name, {}).get("hidden") and found_in(value, secrets)
        }

    def _has_ended(self) -> bool:
        """Tell whether the nested stack is as wanted.

        Raises:
            PollDelay: it is not yet.
            Error: it never will be.
        """
        child = self.nested()
        if child is None:
            raise exception.Error(f"The nested stack of {self.name} was deleted.")
        match child.status:
            case Status.COMPLETE:
                return True
            case Status.FAILED:
                raise _failure(child)
            case _:
                raise PollDelay(LOOK_AGAIN)

    def follow(self) -> None:
        """Let the nested stack be as the metadata want it, now that a signal has written there.

        In an engine, whatever a worker does to it meanwhile; once more does no harm.
        """

    # -- the actions ----------------------------------------------------------------------

    def handle_create(self) -> Any:
        return self.create_with_template(self.child_template(), self.child_params())

    def check_create_complete(self, token: Any) -> bool:
        return self._has_ended()

    def _needs_update(self, *args: Any, **kwargs: Any) -> bool:
        """Update the nested stack whatever changed here: what it inherits is compared there."""
        super()._needs_update(*args, **kwargs)
        return True

    def needs_replace_failed(self) -> bool:
        return False

    def handle_update(self, json_snippet: ResourceDefinition, tmpl_diff: Any, prop_diff: Any) -> Any:
        self.become(json_snippet.definition)
        return self.update_with_template(self.child_template(), self.child_params())

    def check_update_complete(self, token: Any) -> bool:
        return self._has_ended()

    def handle_delete(self) -> Any:
        return self.delete_nested()

    def delete_nested(self) -> str | None:
        """Start to delete the nested stack, if there is one."""
        child = self.nested()
        if child is None:
            return None
        self.nested_stacks.delete(child.id)
        return child.id

    def check_delete_complete(self, token: Any) -> bool:
        child = self.nested()
        if child is None:
            return True
        if child.action is not Action.DELETE:  # a signal came too late, and brought it back
            self.nested_stacks.delete(child.id)
        elif child.status is Status.FAILED:
            raise _failure(child)
        raise PollDelay(LOOK_AGAIN)

    def handle_delete_cancel(self, token: Any) -> None:
        """Let the nested stack stay as it is by now; one that lets go of everything goes on with that."""
        child = self.nested()
        if child is not None and child.action is Action.DELETE and not child.abandoned:
            self.nested_stacks.give_up_deletion(child.id)

    def handle_abandon(self) -> Any:
        child = self.nested()
        if child is None:
            return None
        if not child.abandoned or child.status is Status.FAILED:
            self.nested_stacks.delete(child.id, abandon=True)
        return child.id

    def check_abandon_complete(self, token: Any) -> bool:
        child = self.nested()
        if child is None:
            return True
        if not child.abandoned:  # a signal came too late, and brought it back
            self.nested_stacks.delete(child.id, abandon=True)
        elif child.status is Status.FAILED:
            raise _failure(child)
        raise PollDelay(LOOK_AGAIN)

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> Any:
        """Make the nested stack around what another one was made of, unless an earlier call has."""
        if "resources" not in resource_data:
            raise exception.Error(f"Resource {self.name} cannot be adopted: its data have no resources.")
        self._recall(resource_data)
        stack_id = self.nested_stacks.create(
            str(self.physical_resource_name()),
            self._source(self.child_template(), self.child_params()),
            self.stack.timeout_mins,
            adopt=resource_data,
        )
        self.resource_id_set(stack_id)
        return stack_id

    def check_adopt_complete(self, token: Any) -> bool:
        return self._has_ended()

    def handle_suspend(self) -> Any:
        return self._visit(Action.SUSPEND)

    def check_suspend_complete(self, token: Any) -> bool:
        return self._has_ended()

    def handle_resume(self) -> Any:
        return self._visit(Action.RESUME)

    def check_resume_complete(self, token: Any) -> bool:
        return self._has_ended()

    def handle_check(self) -> Any:
        return self._visit(Action.CHECK)

    def check_check_complete(self, token: Any) -> bool:
        return self._has_ended()

    def _visit(self, action: Action) -> str:
        child = self.nested()
        if child is None:
            raise exception.Error(f"The nested stack of {self.name} is not there.")
        self.nested_stacks.visit(child.id, action)
        return child.id

    # -- what it tells --------------------------------------------------------------------

    def get_output(self, op: str) -> Any:
        """Return an output of the nested stack.

        Raises:
            InvalidTemplateAttribute: it has no such output.
            TemplateOutputError: there is something wrong with it.
        """
        if op in self._outputs.errors:
            reason = self._outputs.errors[op]
            raise exception.TemplateOutputError(resource=self.name, attribute=op, message=reason)
        if op not in self._outputs.values:
            raise exception.InvalidTemplateAttribute(resource=self.name, key=op)
        return self._outputs.values[op]

    @cached_property
    def _outputs(self) -> Outputs:
        child = self.nested()
        return Outputs() if child is None else self.nested_stacks.outputs(child.id)

    def become(self, definition: Definition) -> None:
        """Take on a definition, and with it other outputs."""
        super().become(definition)
        self.__dict__.pop("_outputs", None)

    def _resolve_attribute(self, name: str) -> Any:
        return self._outputs.values.get(name)

    def _member(self, name: str, attribute: str | None) -> Any:
        """Return an attribute of a resource in the nested stack, or what refers to it."""
        child = self.nested()
        if child is None:
            return None
        try:
            return self.nested_stacks.member(child.id, name, attribute)
        except errors.NotFound:
            raise exception.InvalidTemplateAttribute(resource=self.name, key=f"resource.{name}") from None


def _failure(child: Child) -> exception.Error:
    """Return the error that a nested stack failed with, told by the one resource in it if that is known."""
    failure = failed_resource(child.reason)
    return exception.Error(child.reason) if failure is None else NestedStackFailed(failure)
