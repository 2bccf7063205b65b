# SPDX-License-Identifier: Apache-2.0
"""The tables.  What each one is for stands beside it; migrations make them so.

Each package of ``heatconv.db`` has a module here with the tables that it writes.  Everybody imports
a table from here, and not from its module, so that ``metadata`` always knows all of them.

Whatever may hold a user's secret is ``Sealed``, as a whole, and bound to its row: to the
table's key, or to the columns named as ``row``, among them whose the row is.
"""

from __future__ import annotations

from heatconv.db.tables.convergence import (
    graph_edge,
    quota,
    raw_template,
    resource,
    resource_data,
    service,
    snapshot,
    stack,
    stack_tag,
    sync_point,
    sync_point_input,
    user_creds,
    wish,
)
from heatconv.db.tables.declaring import metadata
from heatconv.db.tables.delivery import event, event_sent, event_sink
from heatconv.db.tables.observation import (
    resource_healing,
    resource_observed,
    resource_properties_observed,
    stack_observed,
)
from heatconv.db.tables.plumbing import request
from heatconv.db.tables.software import software_config, software_deployment

__all__ = [
    "event",
    "event_sent",
    "event_sink",
    "graph_edge",
    "metadata",
    "quota",
    "raw_template",
    "request",
    "resource",
    "resource_data",
    "resource_healing",
    "resource_observed",
    "resource_properties_observed",
    "service",
    "snapshot",
    "software_config",
    "software_deployment",
    "stack",
    "stack_observed",
    "stack_tag",
    "sync_point",
    "sync_point_input",
    "user_creds",
    "wish",
]
