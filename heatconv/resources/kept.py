# SPDX-License-Identifier: Apache-2.0
"""What a resource remembers: its physical id, its notes, its metadata.

Each setter is on disk when it returns, so that whoever takes the action over
after a crash knows it; except for what ``only_here`` and ``notes_may_wait`` say of a type.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from heatconv.model.secrets import REDACTED, redacted
from heatconv.resources.core import Core

LOG = logging.getLogger(__name__)


class Kept(Core):
    """A resource with a memory."""

    @property
    def resource_id(self) -> str | None:
        """The physical id; None as long as nothing was made."""
        return self._incarnation.physical_id

    def resource_id_set(self, inst: str | None) -> None:
        """Keep the physical id, at once."""
        keeper = self._learn(physical_id=inst)
        if keeper is not None:
            keeper.set_physical_id(inst)

    def data(self) -> dict[str, str]:
        """Return the plugin's own notes."""
        return {key: value for key, value in self._incarnation.data.items() if key != REDACTED}

    def data_set(self, key: str, value: Any, redact: bool = False) -> None:
        """Keep a note; ``redact`` marks it as one that is never shown."""
        hidden = redacted(self._incarnation.data) - {key} | ({key} if redact else set())
        self._keep_data(self.data() | {key: str(value)}, hidden)

    def data_delete(self, key: str) -> bool:
        """Drop a note; tell whether it was there."""
        notes = self.data()
        if key not in notes:
            return False
        del notes[key]
        self._keep_data(notes, redacted(self._incarnation.data) - {key})
        return True

    def _keep_data(self, notes: dict[str, str], hidden: set[str]) -> None:
        if hidden:
            notes[REDACTED] = json.dumps(sorted(hidden))
        keeper = self._learn(data=notes)
        if keeper is not None:
            keeper.set_data(notes)

    def metadata_get(self, refresh: bool = False) -> dict[str, Any]:
        """Return the metadata; ``refresh`` reads again what signals may have changed."""
        if refresh and self._keeper is not None:
            self._learn(metadata=dict(self._keeper.get_metadata()))
        return dict(self._incarnation.metadata)

    def metadata_set(
        self,
        metadata: Mapping[str, Any],
        merge_metadata: Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]] | None = None,
    ) -> None:
        """Keep the metadata, at once; ``merge_metadata(wanted, current)`` says how to join them.

        Raises:
            StaleWrite: somebody else wrote them since they were read; whoever
                called the hook reads them again and calls it again.
        """
        wanted = merge_metadata(metadata, self.metadata_get()) if merge_metadata else metadata
        keeper = self._learn(metadata=dict(wanted))
        if keeper is not None:
            keeper.set_metadata(dict(wanted))

    def clear_stored_attributes(self) -> None:
        """Let what was told to others be asked again, now that it may not be so any more.

        For those who take signals; at the end of an action it is asked again in any case.
        """
        if self._keeper is not None:
            self._keeper.forget_attributes()

    def metadata_update(self, new_metadata: Mapping[str, Any] | None = None) -> None:
        """Take on the metadata of a new definition.

        To be overridden by types that keep there what no template knows.
        """
        if new_metadata is not None:
            self.metadata_set(new_metadata)

    def _add_event(self, action: str, status: str, reason: str) -> None:
        """Note in the log what happened; events of the stack are for heatconv to write."""
        LOG.info("%s: %s %s: %s", self, action, status, reason)
