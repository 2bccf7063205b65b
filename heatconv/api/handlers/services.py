# SPDX-License-Identifier: Apache-2.0
"""The service itself: its builds and its daemons."""

from __future__ import annotations

from importlib import metadata

from heatconv.api import views
from heatconv.api.call import Answer, Call


def build_info(call: Call) -> Answer:
    """Show which build answers, here and in the engine."""
    engine = call.engine.get_revision(call.context)
    return Answer({"api": {"revision": metadata.version("heatconv")}, "engine": {"revision": engine}})


def index(call: Call) -> Answer:
    """List the daemons that run, or ran."""
    return Answer({"services": [views.service(row) for row in call.engine.list_services(call.context)]})
