# SPDX-License-Identifier: Apache-2.0
"""The tables.  What each one is for stands beside it; migrations make them so.

One module per package of ``heatconv.db``, with the tables that the package writes; ``declaring``
says how a table is declared.  Everybody imports a table from here, and not from its module, so that
``declaring.metadata`` always knows all of them.

Whatever may hold a user's secret is ``Sealed``, as a whole, and bound to its row: to the table's
key, or to the columns that are named beside it, among them whose the row is.
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
from heatconv.db.tables.plans import plan
from heatconv.db.tables.plumbing import contraction, request
from heatconv.db.tables.purging import purge_turn
from heatconv.db.tables.restoring import restored_stack
from heatconv.db.tables.software import software_config, software_deployment

__all__ = [
    "contraction",
    "event",
    "event_sent",
    "event_sink",
    "graph_edge",
    "metadata",
    "plan",
    "purge_turn",
    "quota",
    "raw_template",
    "request",
    "resource",
    "resource_data",
    "resource_healing",
    "resource_observed",
    "resource_properties_observed",
    "restored_stack",
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
