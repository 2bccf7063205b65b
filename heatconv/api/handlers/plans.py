# SPDX-License-Identifier: Apache-2.0
"""Plans: what an action will do, stored to be looked at and to be applied."""

from __future__ import annotations

from http import HTTPStatus

from heatconv import errors
from heatconv.api import views
from heatconv.api.call import NO_CONTENT, Answer, Call, Stack
from heatconv.api.contract import takes
from heatconv.api.handlers import source as sources
from heatconv.api.schemas import plans as schemas
from heatconv.model.saved_plan import PAGE
from heatconv.rpc.engine_client import Json


@takes(body=schemas.CREATION, answers=HTTPStatus.CREATED)
def create(call: Call) -> Answer:
    """Plan the creation of a stack."""
    name, source, options = sources.create(call)
    if options.get("adopt") is not None:
        raise errors.NotSupported(feature="Planning the adoption of a stack")
    return _created(call, None, "create", source, {**options, "name": name, **_of_plan(call)})


@takes(body=schemas.PLAN, answers=HTTPStatus.CREATED)
def create_of_stack(call: Call, stack: Stack) -> Answer:
    """Plan an action on a stack."""
    action = call.body.get("action") or "update"
    source: Json = {}
    options: Json = {}
    if action == "update" and sources.truth(call.body.get("existing")):
        source, options = sources.patch(call)
        options["existing"] = True
    elif action == "update":
        source, options = sources.update(call)
    return _created(call, stack.id, action, source, options | _of_plan(call))


def _of_plan(call: Call) -> Json:
    return {"refresh": sources.truth(call.body.get("refresh")), "allow": call.body.get("allow") or []}


def _created(call: Call, stack: str | None, action: str, source: Json, options: Json) -> Answer:
    row = call.engine.create_plan(call.context, stack, action, source, options)
    headers = {"Location": call.url("plans", row["id"])}
    return Answer({"plan": views.plan(call, row)}, HTTPStatus.CREATED, headers)


@takes(query=schemas.LIST)
def index(call: Call) -> Answer:
    """List the plans of the project, the newest first."""
    return _listed(call, None)


@takes(query=schemas.LIST)
def index_of_stack(call: Call, stack: Stack) -> Answer:
    """List the plans of a stack, the newest first."""
    return _listed(call, stack)


def _listed(call: Call, stack: Stack | None) -> Answer:
    limit = min(call.query["limit"] or PAGE, PAGE)
    query = {"stack": stack and stack.id, "limit": limit, "marker": call.query["marker"]}
    rows = call.engine.list_plans(call.context, query)
    body: Json = {"plans": [views.plan(call, row) for row in rows]}
    if len(rows) == limit:
        here = call.url("plans") if stack is None else call.stack_url(stack, "plans")
        following = views.next_page(here, call.request.params, rows[-1]["id"])
        body["links"] = [views.link(following, "next")]
    return Answer(body)


@takes(query=schemas.SHOW)
def show(call: Call, plan_id: str) -> Answer:
    """Show a plan."""
    return _page(call, plan_id)


@takes(query=schemas.SHOW)
def show_of_stack(call: Call, stack: Stack, plan_id: str) -> Answer:
    """Show a plan of a stack."""
    _check_stack(call, stack, plan_id)
    return _page(call, plan_id)


def _page(call: Call, plan_id: str) -> Answer:
    start, limit = call.query["marker"] or 0, call.query["limit"] or None
    row = call.engine.show_plan(call.context, plan_id, start=start, limit=limit)
    return Answer({"plan": views.plan(call, row)})


@takes(answers=HTTPStatus.NO_CONTENT)
def delete(call: Call, plan_id: str) -> Answer:
    """Forget a plan."""
    call.engine.delete_plan(call.context, plan_id)
    return NO_CONTENT


@takes(answers=HTTPStatus.NO_CONTENT)
def delete_of_stack(call: Call, stack: Stack, plan_id: str) -> Answer:
    """Forget a plan of a stack."""
    _check_stack(call, stack, plan_id)
    call.engine.delete_plan(call.context, plan_id)
    return NO_CONTENT


@takes(answers=HTTPStatus.ACCEPTED)
def apply(call: Call, plan_id: str) -> Answer:
    """Start to do what a plan says, and nothing else."""
    found = call.engine.apply_plan(call.context, plan_id)
    stack = Stack(found["name"], found["id"])
    href = call.stack_url(stack)
    body = {"stack": {"id": stack.id, "links": [views.link(href)]}}
    return Answer(body, HTTPStatus.ACCEPTED, {"Location": href}, made=stack)


@takes(answers=HTTPStatus.ACCEPTED)
def apply_of_stack(call: Call, stack: Stack, plan_id: str) -> Answer:
    """Start to do what a plan of a stack says, and nothing else."""
    _check_stack(call, stack, plan_id)
    return apply(call, plan_id=plan_id)


def _check_stack(call: Call, stack: Stack, plan_id: str) -> None:
    """Refuse a plan that is not of the stack.

    Raises:
        NotFound: it is not, or there is none.
    """
    row = call.engine.show_plan(call.context, plan_id, limit=0)
    if row["stack"]["id"] != stack.id:
        raise errors.NotFound(entity="Plan", name=plan_id)
