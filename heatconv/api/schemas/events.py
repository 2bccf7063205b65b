# SPDX-License-Identifier: Apache-2.0
"""Events: which of them a list shows, and in what order."""

from __future__ import annotations

from heatconv.api.query import Keys, choice, filtering, names, number, text, waiting

SORT_KEYS = ("event_time", "resource_type")

_FILTERS: Keys = {
    "resource_status": filtering("status"),
    "resource_action": filtering("action"),
    "resource_name": filtering("resource_name"),
    "resource_type": filtering("resource_type"),
}

#: Of one resource.
LIST_OF_RESOURCE: Keys = {
    "limit": number("How many events there are on a page; all of them if 0 or not given."),
    "marker": text("The id of the event after which the page starts."),
    "sort_keys": names(f"What to sort by: {', '.join(SORT_KEYS)}; anything else is ignored."),
    "sort_dir": choice("The order; without it and sort_keys the newest come first.", ("asc", "desc")),
    **_FILTERS,
    **waiting(),
}

#: Of a stack.
LIST: Keys = {
    **LIST_OF_RESOURCE,
    "nested_depth": number("How many levels of nested stacks to list the events of too."),
}
