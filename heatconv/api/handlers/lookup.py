# SPDX-License-Identifier: Apache-2.0
"""From what a user calls a stack to its canonical URL."""

from __future__ import annotations

from http import HTTPStatus

from heatconv import errors
from heatconv.api.call import Answer, Call, Stack, notice
from heatconv.api.contract import takes


@takes(answers=HTTPStatus.FOUND)
def by_name(call: Call, stack_name: str) -> Answer:
    """Redirect from a stack's name, or id, to its canonical URL and whatever follows it."""
    below = call.request.path.split("/stacks/", 1)[1].split("/")[1:]
    return _redirect(call, stack_name, below)


@takes(answers=HTTPStatus.FOUND)
def by_arn(call: Call, stack_name: str, stack_id: str, arn_id: str) -> Answer:
    """Redirect from ``arn:openstack:heat::PROJECT:stacks/NAME/ID``, and from whatever follows it."""
    if not stack_name.startswith("arn:"):
        raise errors.NotFound(entity="URL", name=call.request.path)
    identity = call.engine.identify_stack(call.context, arn_id)
    if identity["name"] != stack_id:
        raise errors.NotFound(entity="Stack", name=f"{stack_id}/{arn_id}")
    return _redirect(call, arn_id, call.request.path.split("/stacks/", 1)[1].split("/")[3:])


def _redirect(call: Call, name: str, below: list[str]) -> Answer:
    identity = call.engine.identify_stack(call.context, name)
    href = call.stack_url(Stack(identity["name"], identity["id"]), *below)
    query = f"?{call.request.query_string}" if call.request.query_string else ""
    return notice(HTTPStatus.FOUND, {"Location": href + query})
