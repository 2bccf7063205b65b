# SPDX-License-Identifier: Apache-2.0
"""SIGHUP: a daemon reads its configuration files again."""

from __future__ import annotations

import logging
import signal

from oslo_config import cfg

from heatconv import conf as configuration

LOG = logging.getLogger(__name__)


class Reloading:
    """What SIGHUP asks for, until the main thread sees to it between two of its turns."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        """Listen to SIGHUP from now on; for the main thread."""
        self._conf = conf
        # What the signal asks for is plain: a handler that took a lock could wait for itself.
        self._is_due = False
        signal.signal(signal.SIGHUP, self._note)

    def see_to_it(self) -> None:
        """Read the configuration files again, if that was asked for."""
        if self._is_due:
            self._is_due = False
            LOG.info("the configuration is read again")
            configuration.reload(self._conf)

    def _note(self, *_: object) -> None:
        self._is_due = True
