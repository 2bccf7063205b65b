# SPDX-License-Identifier: Apache-2.0
"""What oslo-config-generator has to be told besides ``heatconv.conf.list_opts``."""

from __future__ import annotations

from heatconv.conf import cors, logs


def set_defaults() -> None:
    """Give the options of libraries the defaults that our programs give them."""
    logs.set_defaults()
    cors.set_defaults()
