# SPDX-License-Identifier: Apache-2.0
"""Outputs of a stack."""

from __future__ import annotations

from heatconv.api import views
from heatconv.api.call import Answer, Call, Stack


def index(call: Call, stack: Stack) -> Answer:
    """List the outputs of a stack without their values."""
    rows = call.engine.list_outputs(call.context, stack.id)
    return Answer({"outputs": [views.output_row(row) for row in rows]})


def show(call: Call, stack: Stack, output_key: str) -> Answer:
    """Show one output with its value."""
    return Answer({"output": views.output(call.engine.show_output(call.context, stack.id, output_key))})
