# SPDX-License-Identifier: Apache-2.0
"""Changes: since when, and how many at a time."""

from __future__ import annotations

from heatconv.api.query import NESTED, SINCE, WAIT, Keys, flag, number, text

MOST = 500  #: events in one answer

LIST: Keys = {
    SINCE: text("The cursor of the answer before; without it, the answer is nothing but a cursor."),
    "limit": number(f"How many events there are in the answer at most; {MOST} if more, 0, or not given."),
    NESTED: flag("Whether to tell what is new in the stacks nested in it too.", default=True),
    WAIT: number("Seconds to wait, at most, for something new, while there is nothing."),
}
