# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::ResourceGroup: so many resources that are alike but for a number."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from heatconv.model.bounds import check_members
from heatconv.resources import attributes, constraints, group, properties, support
from heatconv.resources.group_attributes import Of, Path
from heatconv.resources.i18n import _
from heatconv.resources.rolling import Pace

_schema = properties.Schema
_attribute = attributes.Schema

SKIPPED = "name_blacklist"  #: the note of the names that are not to be used, by Heat's name for it
REFERENCES = "removed_references"  #: the note of the references that named them

pause = _schema(
    _schema.NUMBER,
    _("The seconds to pause between two batches."),
    default=0,
    constraints=[constraints.Range(min=0)],
)
batch_size = _schema(
    _schema.INTEGER,
    _("How many members are worked on at once."),
    default=1,
    constraints=[constraints.Range(min=1)],
)


class ResourceGroup(group.Group):
    """Members named 0, 1, 2 and so on; the last ones go first unless ``removal_policies`` name others."""

    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (
        COUNT,
        INDEX_VAR,
        RESOURCE_DEF,
        REMOVAL_POLICIES,
        REMOVAL_POLICIES_MODE,
    ) = ("count", "index_var", "resource_def", "removal_policies", "removal_policies_mode")

    _RESOURCE_DEF_KEYS = (TYPE, PROPERTIES_OF, METADATA) = ("type", "properties", "metadata")

    REMOVAL_RSRC_LIST = "resource_list"

    _MODES = (APPEND, UPDATE_MODE) = ("append", "update")

    ROLLING_UPDATE, BATCH_CREATE = ("rolling_update", "batch_create")
    MIN_IN_SERVICE, MAX_BATCH_SIZE, PAUSE_TIME = ("min_in_service", "max_batch_size", "pause_time")

    ATTRIBUTES = (
        REFS,
        REFS_MAP,
        ATTR_ATTRIBUTES,
        REMOVED_RSRC_LIST,
    ) = ("refs", "refs_map", "attributes", "removed_rsrc_list")

    properties_schema = {
        COUNT: _schema(
            _schema.INTEGER,
            _("The number of members."),
            default=1,
            constraints=[constraints.Range(min=0)],
            update_allowed=True,
        ),
        INDEX_VAR: _schema(
            _schema.STRING,
            _("What stands for the name of a member, anywhere in its properties."),
            default="%index%",
            constraints=[constraints.Length(min=3)],
            support_status=support.SupportStatus(version="2014.2"),
        ),
        RESOURCE_DEF: _schema(
            _schema.MAP,
            _("What a member is."),
            schema={
                TYPE: _schema(_schema.STRING, _("The type of a member."), required=True),
                PROPERTIES_OF: _schema(_schema.MAP, _("The properties of a member.")),
                METADATA: _schema(
                    _schema.MAP,
                    _("The metadata of a member."),
                    support_status=support.SupportStatus(version="5.0.0"),
                ),
            },
            required=True,
            update_allowed=True,
        ),
        REMOVAL_POLICIES: _schema(
            _schema.LIST,
            _("Which members go first."),
            schema=_schema(
                _schema.MAP,
                _("Some members."),
                schema={
                    REMOVAL_RSRC_LIST: _schema(
                        _schema.LIST,
                        _("Names of members, or what refers to them."),
                        default=[],
                    ),
                },
            ),
            default=[],
            update_allowed=True,
            support_status=support.SupportStatus(version="2015.1"),
        ),
        REMOVAL_POLICIES_MODE: _schema(
            _schema.STRING,
            _(
                "Whether names that were removed before stay unused (append), or only those that"
                " removal_policies have now (update)."
            ),
            default=APPEND,
            constraints=[constraints.AllowedValues(list(_MODES))],
            update_allowed=True,
            support_status=support.SupportStatus(version="10.0.0"),
        ),
    }

    attributes_schema = {
        REFS: _attribute(_("What refers to each member, in their order."), type=_attribute.LIST),
        REFS_MAP: _attribute(
            _("What refers to each member, by name."),
            type=_attribute.MAP,
            support_status=support.SupportStatus(version="7.0.0"),
        ),
        ATTR_ATTRIBUTES: _attribute(
            _("The attribute of each member that the path behind this names, by the member's name."),
            type=_attribute.MAP,
            support_status=support.SupportStatus(version="2014.2"),
        ),
        REMOVED_RSRC_LIST: _attribute(
            _("The names that are not used any more."),
            type=_attribute.LIST,
            support_status=support.SupportStatus(version="7.0.0"),
        ),
    }

    update_policy_schema = {
        ROLLING_UPDATE: _schema(
            _schema.MAP,
            _("How members are changed in batches."),
            schema={
                MIN_IN_SERVICE: _schema(
                    _schema.INTEGER,
                    _("How many members are to be in service meanwhile; some may be made just for that."),
                    default=0,
                    constraints=[constraints.Range(min=0)],
                ),
                MAX_BATCH_SIZE: batch_size,
                PAUSE_TIME: pause,
            },
            support_status=support.SupportStatus(version="5.0.0"),
        ),
        BATCH_CREATE: _schema(
            _schema.MAP,
            _("How members are made in batches."),
            schema={MAX_BATCH_SIZE: batch_size, PAUSE_TIME: pause},
            support_status=support.SupportStatus(version="5.0.0"),
        ),
    }

    @classmethod
    def types_made(cls, properties: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
        # A group without members may be of a type that is not there: so features are switched off.
        if str(properties.get(cls.COUNT)) == "0":
            return {}
        return group.type_in(properties, cls.RESOURCE_DEF, "0")

    @classmethod
    def size_made(cls, properties: Mapping[str, Any]) -> int:
        return group.number_in(properties, cls.COUNT, default=1)

    @classmethod
    def properties_made(cls, properties: Mapping[str, Any]) -> Mapping[str, Any]:
        return group.properties_in(properties, cls.RESOURCE_DEF)

    # -- the members ------------------------------------------------------------------------

    def member_names(self) -> list[str]:
        count = self.properties[self.COUNT]
        check_members(count)
        return list(itertools.islice(self._free_names(), count))

    def more_names(self, count: int) -> list[str]:
        first = self.properties[self.COUNT]
        return list(itertools.islice(self._free_names(), first, first + count))

    def _free_names(self) -> itertools.filterfalse[str]:
        skipped = set(self._skipped())
        return itertools.filterfalse(skipped.__contains__, map(str, itertools.count()))

    def member(self, name: str) -> group.Snippet:
        wanted = self.properties[self.RESOURCE_DEF]
        given = {key: value for key, value in (wanted[self.PROPERTIES_OF] or {}).items() if value is not None}
        return {
            "type": wanted[self.TYPE],
            "properties": _numbered(given, self.properties[self.INDEX_VAR], name),
            "metadata": wanted[self.METADATA] or {},
        }

    def creating(self) -> Pace | None:
        return group.pace_of(self.update_policy[self.BATCH_CREATE])

    def updating(self) -> Pace | None:
        return group.pace_of(self.update_policy[self.ROLLING_UPDATE])

    # -- which of them go first ---------------------------------------------------------------

    def _skipped(self) -> list[str]:
        noted = self.data().get(SKIPPED)
        return noted.split(",") if noted else []

    def decide(self, changed: Mapping[str, Any] | None) -> None:
        """Note the names that the removal policies list, for good or for as long as they list them."""
        references = json.loads(self.data().get(REFERENCES, "{}"))
        references |= {each.reference_id: name for name, each in self.members().items() if each.reference_id}
        known = {*self._skipped(), *self.members()}
        names_by_reference: dict[str, str] = {}
        for policy in self.properties[self.REMOVAL_POLICIES] or []:
            for each in map(str, policy[self.REMOVAL_RSRC_LIST] or []):
                if each in known or self.resource_id is None:
                    names_by_reference[each] = each
                elif each in references:
                    names_by_reference[each] = references[each]
        stay = self._skipped() if self.properties[self.REMOVAL_POLICIES_MODE] == self.APPEND else []
        skipped = ",".join(sorted({*stay, *names_by_reference.values()}))
        if skipped != ",".join(self._skipped()):
            # The references first: without them nobody knew which names those were.
            self.data_set(REFERENCES, json.dumps(names_by_reference))
            self.data_set(SKIPPED, skipped)

    # -- its attributes ------------------------------------------------------------------------

    def get_attribute(self, key: str, *path: str | int) -> Any:
        if key == self.REMOVED_RSRC_LIST:
            return attributes.select_from_attribute(self._skipped(), path)
        return super().get_attribute(key, *path)

    def attribute_of_members(self, names: Sequence[str], attribute: str, path: Path, of: Of) -> Any:
        # The one attribute that is not the members'.
        if attribute == self.REMOVED_RSRC_LIST:
            return None
        return super().attribute_of_members(names, attribute, path, of)


def _numbered(value: Any, variable: str, name: str) -> Any:
    """Return a value with a member's name wherever the variable stands."""
    if isinstance(value, str):
        return value.replace(variable, name)
    if isinstance(value, Mapping):
        return {key: _numbered(item, variable, name) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_numbered(item, variable, name) for item in value]
    return value
