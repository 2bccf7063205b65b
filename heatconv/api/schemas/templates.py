# SPDX-License-Identifier: Apache-2.0
"""Templates: what validation and the lists of what templates may use can be asked."""

from __future__ import annotations

from heatconv.api.query import Keys, flag, names

#: Which mistakes ``ignore_errors`` can name: 99001 is a type whose service is not there.
IGNORABLE = ("99001",)

VALIDATE: Keys = {
    "show_nested": flag("Whether to tell the parameters of nested stacks too."),
    "ignore_errors": names(f"Codes of mistakes to pass over; there is {', '.join(IGNORABLE)}."),
}

FUNCTIONS: Keys = {"with_condition_func": flag("Whether to list the functions for conditions too.")}
