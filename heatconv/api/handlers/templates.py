# SPDX-License-Identifier: Apache-2.0
"""Templates: validation, and the versions and functions they may use."""

from __future__ import annotations

from heatconv.api.call import Answer, Call
from heatconv.api.handlers import source as sources


def validate(call: Call) -> Answer:
    """Say what a template takes, or what is wrong with it."""
    return Answer(call.engine.validate_template(call.context, sources.validate(call)))


def versions(call: Call) -> Answer:
    """List the versions a template may name."""
    return Answer({"template_versions": call.engine.list_template_versions(call.context)})


def functions(call: Call, version: str) -> Answer:
    """List the functions of a template version."""
    with_conditions = call.query.boolean("with_condition_func")
    rows = call.engine.list_template_functions(call.context, version, with_conditions=with_conditions)
    return Answer({"template_functions": rows})
