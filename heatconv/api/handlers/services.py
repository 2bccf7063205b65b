# SPDX-License-Identifier: Apache-2.0
"""The service itself: its builds and its daemons, and what of it the caller may use."""

from __future__ import annotations

from importlib import metadata

from heatconv.api import policies, views
from heatconv.api.call import Answer, Call


def build_info(call: Call) -> Answer:
    """Show which build answers, here and in the engine."""
    engine = call.engine.get_revision(call.context)
    return Answer({"api": {"revision": metadata.version("heatconv")}, "engine": {"revision": engine}})


def permissions(call: Call) -> Answer:
    """Show what the policy lets the caller do in the project, by the names of its rules."""
    return Answer({"permissions": [rule for rule in policies.of_operations() if call.may(rule)]})


def index(call: Call) -> Answer:
    """List the daemons that run, or ran."""
    return Answer({"services": [views.service(row) for row in call.engine.list_services(call.context)]})


def work(call: Call) -> Answer:
    """Show how much there is to do in all, in nodes, and how late the oldest of it is, in seconds."""
    return Answer({"work": call.engine.show_work(call.context)})
