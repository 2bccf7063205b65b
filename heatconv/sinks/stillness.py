# SPDX-License-Identifier: Apache-2.0
"""When a look at all sinks can be spared: nothing has come for so long that nothing is on its way."""

from __future__ import annotations

import math
import time


class Stillness:
    """What one engine knows of how still it is; for one thread.

    An event may be seen after one with a larger number, for as long as a transaction may be open.  What else
    gives a sink something to do, such as that a day has passed, is found by a look now and then.
    """

    def __init__(self, settled_after: float) -> None:
        """Take for how many seconds a transaction may be open; so many are between two looks, too."""
        self._settled_after = settled_after
        self._news: object = None
        self._came_at = self._looked_at = -math.inf

    def lasts(self, news: object) -> bool:
        """Tell, by the news that there are now, whether a look can be spared; if not, the caller looks."""
        now = time.monotonic()
        if news != self._news:
            self._news, self._came_at = news, now
        was_all_seen = self._looked_at > self._came_at + self._settled_after
        if was_all_seen and now < self._looked_at + self._settled_after:
            return True
        self._looked_at = now
        return False
