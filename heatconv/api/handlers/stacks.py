# SPDX-License-Identifier: Apache-2.0
"""Stacks: make, find, read, change, delete."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlencode

from heatconv import errors
from heatconv.api import views
from heatconv.api.call import NO_CONTENT, Answer, Call, Stack, notice
from heatconv.api.handlers import source as sources
from heatconv.api.schemas import stacks as schemas

_SORT_KEYS = {"stack_name", "stack_status", "creation_time", "updated_time"}
_FILTERS = {
    "id": "id",
    "name": "name",
    "stack_name": "name",
    "status": "status",
    "stack_status": "status",
    "action": "action",
    "stack_action": "action",
    "username": "username",
    "stack_owner": "username",
}
#: Heat has them, too; to ignore them would show what was not asked for.
_NO_FILTERS = ("tenant", "owner_id", "parent", "stack_user_project_id", "disable_rollback", "timeout_mins")
_TAG_FILTERS = ("tags", "tags_any", "not_tags", "not_tags_any")


# -- the collection ----------------------------------------------------------------


def create(call: Call) -> Answer:
    """Start to create a stack."""
    name, source, options = sources.create(call)
    stack = Stack(name, call.engine.create_stack(call.context, name, source, options))
    href = call.stack_url(stack)
    body = {"stack": {"id": stack.id, "links": [views.link(href)]}}
    return Answer(body, HTTPStatus.CREATED, {"Location": href})


def preview_create(call: Call) -> Answer:
    """Show the stack that the same body would create."""
    row = call.engine.preview_create(call.context, *sources.create(call))
    return Answer({"stack": views.stack_preview(call, row)})


def index(call: Call) -> Answer:
    """List stacks, a page at a time."""
    if call.query.boolean("global_tenant"):
        raise errors.Forbidden("You may list the stacks of your own project only.")
    for key in _NO_FILTERS:
        if call.query.texts(key):
            raise errors.NotSupported(feature=f"Filtering stacks by '{key}'")
    limit = call.query.number("limit")
    query = {
        "limit": limit or None,
        "marker": call.query.text("marker"),
        "sort_keys": [key for key in call.query.names("sort_keys") if key in _SORT_KEYS],
        "sort_dir": call.query.choice("sort_dir", ("asc", "desc")),
        "with_count": call.query.boolean("with_count"),
        "show_deleted": call.query.boolean("show_deleted"),
        "filters": call.query.filters(_FILTERS),
        **{key: call.query.names(key) for key in _TAG_FILTERS},
    }
    page = call.engine.list_stacks(call.context, query)
    body = {"stacks": [views.stack_row(call, row) for row in page["stacks"]]}
    if limit and len(page["stacks"]) == limit:
        body["links"] = [views.link(_next_page(call, page["stacks"][-1]["id"]), "next")]
    if page.get("count") is not None:
        body["count"] = page["count"]
    return Answer(body)


def _next_page(call: Call, marker: str) -> str:
    params = {key: value for key, value in call.request.params.items() if key != "marker"}
    return f"{call.url('stacks')}?{urlencode({**params, 'marker': marker}, doseq=True)}"


# -- from a name to the canonical URL -------------------------------------------------


def lookup(call: Call, stack_name: str) -> Answer:
    """Redirect from a stack's name, or id, to its canonical URL and whatever follows it."""
    below = call.request.path.split("/stacks/", 1)[1].split("/")[1:]
    return _redirect(call, stack_name, below)


def lookup_arn(call: Call, stack_name: str, stack_id: str, arn_id: str) -> Answer:
    """Redirect from ``arn:openstack:heat::PROJECT:stacks/NAME/ID``."""
    if not stack_name.startswith("arn:"):
        raise errors.NotFound(entity="URL", name=call.request.path)
    identity = call.engine.identify_stack(call.context, arn_id)
    if identity["name"] != stack_id:
        raise errors.NotFound(entity="Stack", name=f"{stack_id}/{arn_id}")
    return _redirect(call, arn_id, [])


def _redirect(call: Call, name: str, below: list[str]) -> Answer:
    identity = call.engine.identify_stack(call.context, name)
    href = call.stack_url(Stack(identity["name"], identity["id"]), *below)
    query = f"?{call.request.query_string}" if call.request.query_string else ""
    return notice(HTTPStatus.FOUND, {"Location": href + query})


# -- one stack -----------------------------------------------------------------------


def show(call: Call, stack: Stack) -> Answer:
    """Show a stack."""
    resolve = call.query.boolean("resolve_outputs", default=True)
    row = call.engine.show_stack(call.context, stack.id, resolve_outputs=resolve)
    return Answer({"stack": views.stack(call, row)})


def update(call: Call, stack: Stack) -> Answer:
    """Start to make a stack match the body."""
    call.engine.update_stack(call.context, stack.id, *sources.update(call))
    return notice(HTTPStatus.ACCEPTED)


def patch(call: Call, stack: Stack) -> Answer:
    """Start to change what the body names, and nothing else."""
    call.engine.update_stack(call.context, stack.id, *sources.patch(call), existing=True)
    return notice(HTTPStatus.ACCEPTED)


def preview_update(call: Call, stack: Stack) -> Answer:
    """Show what an update with the same body would change."""
    return _preview(call, stack, existing=False)


def preview_patch(call: Call, stack: Stack) -> Answer:
    """Show what a PATCH with the same body would change."""
    return _preview(call, stack, existing=True)


def _preview(call: Call, stack: Stack, *, existing: bool) -> Answer:
    source, options = sources.patch(call) if existing else sources.update(call)
    changes = call.engine.preview_update(call.context, stack.id, source, options, existing=existing)
    shown = {kind: [views.raw_resource(call, stack, row) for row in rows] for kind, rows in changes.items()}
    return Answer({"resource_changes": shown})


def delete(call: Call, stack: Stack) -> Answer:
    """Start to delete a stack."""
    call.engine.delete_stack(call.context, stack.id)
    return NO_CONTENT


def template(call: Call, stack: Stack) -> Answer:
    """Show the template of a stack."""
    return Answer(call.engine.get_template(call.context, stack.id))


def environment(call: Call, stack: Stack) -> Answer:
    """Show the environment of a stack."""
    return Answer(call.engine.get_environment(call.context, stack.id))


def files(call: Call, stack: Stack) -> Answer:
    """Show the files of a stack."""
    return Answer(call.engine.get_files(call.context, stack.id))


def graph(call: Call, stack: Stack) -> Answer:
    """Show how the resources of a stack depend on each other."""
    return Answer({"graph": call.engine.show_graph(call.context, stack.id)})


# -- actions -------------------------------------------------------------------------


def act(call: Call, stack: Stack) -> Answer:
    """Start the one action that the body names."""
    (action,) = call.json(schemas.ACTION)
    _ACTIONS[action](call, stack)
    return Answer(None)


def _check(call: Call, stack: Stack) -> None:
    call.engine.check_stack(call.context, stack.id)


def _rollback(call: Call, stack: Stack) -> None:
    call.engine.rollback_stack(call.context, stack.id)


def _cancel_update(call: Call, stack: Stack) -> None:
    call.engine.cancel_stack(call.context, stack.id, rollback=True)


def _cancel_without_rollback(call: Call, stack: Stack) -> None:
    call.engine.cancel_stack(call.context, stack.id, rollback=False)


def _suspend(_call: Call, _stack: Stack) -> None:
    raise errors.NotSupported(feature="Suspending a stack")


def _resume(_call: Call, _stack: Stack) -> None:
    raise errors.NotSupported(feature="Resuming a stack")


_ACTIONS = {
    "check": _check,
    "rollback": _rollback,
    "cancel_update": _cancel_update,
    "cancel_without_rollback": _cancel_without_rollback,
    "suspend": _suspend,
    "resume": _resume,
}
