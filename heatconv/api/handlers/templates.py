# SPDX-License-Identifier: Apache-2.0
"""Templates: validation, and the versions and functions they may use."""

from __future__ import annotations

from heatconv import errors
from heatconv.api.call import Answer, Call
from heatconv.api.contract import takes
from heatconv.api.handlers import source as sources
from heatconv.api.schemas import stacks, templates


@takes(body=stacks.VALIDATE, query=templates.VALIDATE)
def validate(call: Call) -> Answer:
    """Say what a template takes, or what is wrong with it."""
    unknown = [code for code in call.query["ignore_errors"] if code not in templates.IGNORABLE]
    if unknown:
        raise errors.BadRequest(
            f"'ignore_errors' in the query has to be {', '.join(templates.IGNORABLE)}, not '{unknown[0]}'."
        )
    show_nested = call.query["show_nested"]
    source = sources.validate(call)
    return Answer(call.engine.validate_template(call.context, source, show_nested=show_nested))


def versions(call: Call) -> Answer:
    """List the versions a template may name."""
    return Answer({"template_versions": call.engine.list_template_versions(call.context)})


@takes(query=templates.FUNCTIONS)
def functions(call: Call, version: str) -> Answer:
    """List the functions of a template version."""
    with_conditions = call.query["with_condition_func"]
    rows = call.engine.list_template_functions(call.context, version, with_conditions=with_conditions)
    return Answer({"template_functions": rows})
