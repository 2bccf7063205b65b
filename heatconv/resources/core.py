# SPDX-License-Identifier: Apache-2.0
"""What every resource is: a definition, a few facts, a state, and clients.

The base of ``resource.Resource``, which is built up in layers, one idea each:
``core``, ``kept`` (what it remembers), ``reading`` (what it tells), ``hooks``
(what a plugin does), ``updating`` (what a change means) and ``handover`` (what a
replacement gets).  Each has what a plugin calls, or overrides; whoever makes a
plugin do something goes through its ``driver.PluginDriver``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partialmethod
from typing import Any, ClassVar, NoReturn

from heatconv.model.definition import Definition
from heatconv.model.records import changed
from heatconv.model.states import Action, Status
from heatconv.resources import attributes, exception, support
from heatconv.resources.facts import Identifier, Incarnation, Keeper, StackFacts
from heatconv.resources.naming import physical_name
from heatconv.resources.properties import Properties, Schema
from heatconv.resources.rsrc_defn import ResourceDefinition
from heatconv.resources.translation import TranslationRule, translate


class Core:
    """A resource: declared by class attributes, bound to a state by its driver."""

    INIT, CREATE, UPDATE, DELETE, ROLLBACK = ("INIT", "CREATE", "UPDATE", "DELETE", "ROLLBACK")
    SUSPEND, RESUME, ADOPT, SNAPSHOT, CHECK = ("SUSPEND", "RESUME", "ADOPT", "SNAPSHOT", "CHECK")
    IN_PROGRESS, FAILED, COMPLETE = ("IN_PROGRESS", "FAILED", "COMPLETE")
    ACTIONS = (INIT, CREATE, DELETE, UPDATE, ROLLBACK, SUSPEND, RESUME, ADOPT, SNAPSHOT, CHECK)
    STATUSES = (IN_PROGRESS, FAILED, COMPLETE)
    BASE_ATTRIBUTES = (SHOW,) = (attributes.SHOW_ATTR,)

    # An object may have schemas of its own: see ``regenerate_info_schema``.
    properties_schema: Mapping[str, Schema] = {}
    attributes_schema: Mapping[str, attributes.Schema] = {}
    base_attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = attributes.BASE_ATTRIBUTES
    update_policy_schema: ClassVar[Mapping[str, Schema]] = {}
    update_allowed_properties: ClassVar[Sequence[str]] = ()
    default_client_name: ClassVar[str | None] = None
    entity: str | None = None
    required_service_extension: ClassVar[str | Sequence[str] | None] = None
    support_status: ClassVar[support.SupportStatus] = support.SupportStatus()
    strict_dependency: ClassVar[bool] = True
    requires_deferred_auth: ClassVar[bool] = False
    physical_resource_name_limit: ClassVar[int | None] = 255
    no_signal_actions: ClassVar[Sequence[str]] = (SUSPEND, DELETE)
    signal_needs_metadata_updates: ClassVar[bool] = True
    always_replace_on_check_failed: ClassVar[bool] = True
    gives_way: ClassVar[bool] = False  #: what is newly wanted can be begun while an action is under way
    holds_data: ClassVar[bool] = False  #: what it makes has data of users, which are gone when it is
    only_here: ClassVar[bool] = False  #: nothing outside stands for it, so that nothing of it can be lost
    #: what it notes is of use only once the action waits, or has ended well, and is kept along with that
    notes_may_wait: ClassVar[bool] = False
    compares_alone: ClassVar[bool] = False  #: what a change of its definition takes is found without asking
    #: each hook goes by what it finds, so that to call it again does nothing twice, and
    #: ``check_create_complete`` takes None for a token that was lost
    goes_by_what_it_finds: ClassVar[bool] = False
    #: a service may carry a create out after what that makes was looked for in vain; see ``find_all``
    comes_late: ClassVar[bool] = False
    asks_engine: ClassVar[bool] = False  #: what it does is to ask an engine, which may take a while to answer
    changes_with_every_update: ClassVar[bool] = False  #: an update checks it, whatever else it changes
    #: properties that have no value unless a user gives one: no service chooses it, or adds to it
    given_only: ClassVar[Sequence[str]] = ()
    #: the types of the events that ``notified`` reads: ``volume.delete.end``, or ``volume.*`` for many
    notifications: ClassVar[Sequence[str]] = ()
    #: the ``PluginDriver`` of a type that takes another than the usual one
    _driver: ClassVar[type[Any] | None] = None

    def __init__(self, name: str, definition: Definition, stack: StackFacts) -> None:
        self.name = name
        self.stack = stack
        self.context = stack.context
        self._bound_to: Incarnation | None = None
        self._keeper: Keeper | None = None
        self.become(definition)

    @classmethod
    def awaited(cls, token: Any) -> str | None:  # noqa: ARG003 - for types that read it there
        """Return what an action with a token waits for, if that is not its service, for people to read."""
        return None

    def become(self, definition: Definition) -> None:
        """Take on a definition, as the end of an update does; an update may do so at its beginning.

        To be overridden by types that keep what they worked out by the definition before.
        """
        self.definition = definition
        self.t = ResourceDefinition.of(definition)
        self._properties: Properties | None = None

    def _attach(self, incarnation: Incarnation, keeper: Keeper | None) -> None:
        """Be bound to a state, and to where to keep what is learned: see ``PluginDriver.attach``."""
        self._bound_to = incarnation
        self._keeper = keeper
        self._properties = None

    @property
    def _incarnation(self) -> Incarnation:
        """The state the resource is in; that of one never started if it is bound to none."""
        return self._bound_to or Incarnation(id="")

    def _learn(self, **changes: Any) -> Keeper | None:
        """Note a change of the state and return where to keep it; None during validation."""
        self._bound_to = changed(self._incarnation, **changes)
        return self._keeper

    # -- identity -----------------------------------------------------------------------

    def type(self) -> str:
        """Return the name of the type, as the template has it."""
        return self.definition.type

    def has_interface(self, resource_type: str) -> bool:
        """Tell whether it is of a type, as the template has it or as the environment puts it in place."""
        return resource_type in (self.definition.type, self.definition.implemented_by)

    @property
    def uuid(self) -> str:
        """The id of the row behind the resource."""
        return self._incarnation.id

    @property
    def id(self) -> str | None:
        """The id of the row as well, but None as long as there is none."""
        return self.uuid or None

    def physical_resource_name(self) -> str | None:
        """Return the name to give to the physical resource; None during validation."""
        if self._bound_to is None:
            return None
        return physical_name(self.stack.name, self.name, self.uuid, self.physical_resource_name_limit)

    def identifier(self) -> Identifier:
        """Return the way to the resource."""
        return replace(self.stack.identifier(), path=f"/resources/{self.name}")

    def __str__(self) -> str:
        where = f'Stack "{self.stack.name}" [{self.stack.id}]'
        return f'{type(self).__name__} "{self.name}" [{self._incarnation.physical_id}] {where}'

    # -- state --------------------------------------------------------------------------

    @property
    def action(self) -> Action:
        """What was done last."""
        return self._incarnation.action

    @property
    def status(self) -> Status:
        """How that ended."""
        return self._incarnation.status

    @property
    def status_reason(self) -> str:
        """Why it ended so."""
        return self._incarnation.reason

    @property
    def state(self) -> tuple[Action, Status]:
        """Both in one."""
        return self.action, self.status

    @property
    def created_time(self) -> datetime | None:
        """When the row was made."""
        return self._incarnation.created_at

    @property
    def updated_time(self) -> datetime | None:
        """When the resource changed last."""
        return self._incarnation.updated_at

    def frozen_definition(self) -> ResourceDefinition:
        """Return the definition as it was applied, with values in place of functions."""
        return self.t

    # -- properties and clients ---------------------------------------------------------

    @property
    def properties(self) -> Properties:
        """The properties, translated; names are looked up only for a resource that has a state."""
        if self._properties is None:
            # What is there already was made with names that may be gone by now.
            lenient = self._incarnation.physical_id is not None
            self._properties = self.parse_properties(self.definition, lenient=lenient)
        return self._properties

    @properties.setter
    def properties(self, value: Properties) -> None:
        self._properties = value

    @property
    def update_policy(self) -> Properties:
        """The update policy."""
        return self.t.update_policy(self.update_policy_schema, self.context)

    def reparse(self, client_resolve: bool = True) -> None:
        """Read the properties anew."""
        self._properties = None

    def parse_properties(self, definition: Definition, lenient: bool = False) -> Properties:
        """Return a definition's properties as this type sees them.

        ``lenient`` keeps a name as it is that no service knows.
        """
        given = ResourceDefinition.of(definition).properties(self.properties_schema, self.context)
        try:
            rules = self.translation_rules(given)
        except exception.ClientNotAvailable:
            if self._bound_to is not None:
                raise
            # Rules that look up names need clients, which validation may have to do without.
            return given
        if not rules:
            return given
        data = translate(given.data, rules, lookup=self._bound_to is not None, lenient=lenient)
        return ResourceDefinition.of(definition.changed(properties=data)).properties(
            self.properties_schema, self.context
        )

    def translation_rules(self, properties: Properties) -> list[TranslationRule] | None:
        """Return how old or loose ways to say something map to the current one."""
        return None

    def client(self, name: str | None = None, version: str | None = None) -> Any:
        """Return the client of a service, by default the type's own."""
        return self.stack.clients.client(self._service(name), version=version)

    def client_plugin(self, name: str | None = None) -> Any:
        """Return what is known about a service's client, by default the type's own."""
        return self.stack.clients.client_plugin(self._service(name))

    def _client_of(self, name: str) -> Any:
        # Through ``client``, which a plugin may have overridden.
        return self.client(name)

    cinder = partialmethod(_client_of, "cinder")
    heat = partialmethod(_client_of, "heat")
    keystone = partialmethod(_client_of, "keystone")
    neutron = partialmethod(_client_of, "neutron")
    nova = partialmethod(_client_of, "nova")
    swift = partialmethod(_client_of, "swift")
    trove = partialmethod(_client_of, "trove")

    def _service(self, name: str | None) -> str:
        service = name or self.default_client_name
        if service is None:
            raise exception.ClientNotAvailable(client_name=service)
        return service

    def rpc_client(self) -> NoReturn:
        """Refuse: a plugin does not talk to engines."""
        raise exception.NotSupported(feature="Calling an engine from a plugin")

    @classmethod
    def is_service_available(cls, context: Any) -> tuple[bool, str | None]:
        """Tell whether the service behind the type can be used, and if not, why."""
        if cls.default_client_name is None:
            return True, None
        try:
            plugin = context.clients.client_plugin(cls.default_client_name)
        except exception.ClientNotAvailable as error:
            return False, str(error)
        types = plugin.service_types
        # Where no service is known to be, none can be said to be missing.
        if types and context.endpoints and not any(plugin.does_endpoint_exist(each) for each in types):
            return False, f"there is no endpoint of the service {' or '.join(types)}"
        missing = [each for each in cls._extensions() if not plugin.has_extension(each)]
        if missing:
            return False, f"the service lacks the extension {', '.join(missing)}"
        return True, None

    @classmethod
    def _extensions(cls) -> Sequence[str]:
        needed = cls.required_service_extension or ()
        return needed.replace(",", " ").split() if isinstance(needed, str) else needed
