# SPDX-License-Identifier: Apache-2.0
"""Stacks: make, list, read, change, delete, let go."""

from __future__ import annotations

from http import HTTPStatus

from heatconv import errors
from heatconv.api import views
from heatconv.api.call import NO_CONTENT, Answer, Call, Stack, notice
from heatconv.api.contract import takes
from heatconv.api.handlers import source as sources
from heatconv.api.query import FILTERS
from heatconv.api.schemas import stacks as schemas
from heatconv.graph.picture import FEWEST, MOST
from heatconv.model.ids import new_id
from heatconv.rpc.engine_client import Json

#: What of a list's query is the engine's business as it is.
_HANDED_ON = (
    *("marker", "sort_dir", "with_count", "show_deleted", "show_nested"),
    *("tags", "tags_any", "not_tags", FILTERS),
)


# -- the collection ----------------------------------------------------------------


@takes(body=schemas.CREATE, answers=HTTPStatus.CREATED)
def create(call: Call) -> Answer:
    """Start to create a stack, or to adopt what is there already as one."""
    name, source, options = _wanted(call)
    options["stack_id"] = new_id()  # chosen here: a message that the bus carries twice is about one stack
    stack = Stack(name, call.engine.create_stack(call.context, name, source, options))
    href = call.stack_url(stack)
    body = {"stack": {"id": stack.id, "links": [views.link(href)]}}
    return Answer(body, HTTPStatus.CREATED, {"Location": href}, made=stack)


@takes(body=schemas.CREATE, query=schemas.PREVIEW)
def preview_create(call: Call) -> Answer:
    """Show the stack that the same body would create."""
    row = call.engine.preview_create(call.context, *_wanted(call))
    return Answer({"stack": views.stack_preview(call, row)})


def _wanted(call: Call) -> tuple[str, Json, Json]:
    if call.body.get("adopt_stack_data") is not None and not call.conf.enable_stack_adopt:
        raise errors.NotSupported(feature="Adopting a stack, unless the operator sets enable_stack_adopt,")
    return sources.create(call)


@takes(query=schemas.LIST)
def index(call: Call) -> Answer:
    """List stacks, a page at a time."""
    return _listed(call, of_all=call.query["global_tenant"])


@takes(query=schemas.LIST_OF_PROJECT)
def detail(call: Call) -> Answer:
    """List stacks, as there is no more detail to a stack in a list."""
    return _listed(call, of_all=False)


def _listed(call: Call, *, of_all: bool) -> Answer:
    limit = call.query["limit"]
    hidden = [] if call.query["show_hidden"] else call.conf.hidden_stack_tags
    query = {
        "limit": limit or None,
        "sort_keys": [key for key in call.query["sort_keys"] if key in schemas.SORT_KEYS],
        "all_projects": of_all,
        "not_tags_any": [*call.query["not_tags_any"], *hidden],
        **{key: call.query[key] for key in _HANDED_ON},
        # Not sent unless it is asked for: an engine of an earlier release does not know it.
        **({"with_drift": True} if call.query["with_drift"] else {}),
    }
    page = call.engine.list_stacks(call.context, query, search=call.query["search"] or "")
    body = {"stacks": [views.stack_row(call, row, with_project=of_all) for row in page["stacks"]]}
    if limit and len(page["stacks"]) == limit:
        following = views.next_page(call.url("stacks"), call.request.params, page["stacks"][-1]["id"])
        body["links"] = [views.link(following, "next")]
    if page.get("count") is not None:
        body["count"] = page["count"]
    return Answer(body)


# -- one stack -----------------------------------------------------------------------


@takes(query=schemas.SHOW)
def show(call: Call, stack: Stack) -> Answer:
    """Show a stack."""
    row = call.engine.show_stack(call.context, stack.id, resolve_outputs=call.query["resolve_outputs"])
    return Answer({"stack": views.stack(call, row)})


@takes(body=schemas.UPDATE, answers=HTTPStatus.ACCEPTED)
def update(call: Call, stack: Stack) -> Answer:
    """Start to make a stack match the body."""
    call.engine.update_stack(call.context, stack.id, *sources.update(call))
    return notice(HTTPStatus.ACCEPTED)


@takes(body=schemas.PATCH, answers=HTTPStatus.ACCEPTED)
def patch(call: Call, stack: Stack) -> Answer:
    """Start to change what the body names, and nothing else."""
    call.engine.update_stack(call.context, stack.id, *sources.patch(call), existing=True)
    return notice(HTTPStatus.ACCEPTED)


@takes(body=schemas.UPDATE, query=schemas.PREVIEW)
def preview_update(call: Call, stack: Stack) -> Answer:
    """Show what an update with the same body would change."""
    return _preview(call, stack, *sources.update(call), existing=False)


@takes(body=schemas.PATCH, query=schemas.PREVIEW)
def preview_patch(call: Call, stack: Stack) -> Answer:
    """Show what a PATCH with the same body would change."""
    return _preview(call, stack, *sources.patch(call), existing=True)


def _preview(call: Call, stack: Stack, source: Json, options: Json, *, existing: bool) -> Answer:
    options |= {"show_nested": call.query["show_nested"]}
    changes = call.engine.preview_update(call.context, stack.id, source, options, existing=existing)
    shown = {kind: [views.raw_resource(call, row) for row in rows] for kind, rows in changes.items()}
    return Answer({"resource_changes": shown})


@takes(answers=HTTPStatus.NO_CONTENT)
def delete(call: Call, stack: Stack) -> Answer:
    """Start to delete a stack."""
    call.engine.delete_stack(call.context, stack.id)
    return NO_CONTENT


def abandon(call: Call, stack: Stack) -> Answer:
    """Forget a stack and leave its resources where they are; what was known of them is the answer."""
    _check_abandon(call)
    return Answer(call.engine.abandon_stack(call.context, stack.id))


def export(call: Call, stack: Stack) -> Answer:
    """Show what abandoning a stack would answer."""
    _check_abandon(call)
    return Answer(call.engine.export_stack(call.context, stack.id))


def _check_abandon(call: Call) -> None:
    if not call.conf.enable_stack_abandon:
        raise errors.NotSupported(
            feature="Abandoning a stack, unless the operator sets enable_stack_abandon,"
        )


def template(call: Call, stack: Stack) -> Answer:
    """Show the template of a stack."""
    return Answer(call.engine.get_template(call.context, stack.id))


def environment(call: Call, stack: Stack) -> Answer:
    """Show the environment of a stack."""
    return Answer(call.engine.get_environment(call.context, stack.id))


def files(call: Call, stack: Stack) -> Answer:
    """Show the files of a stack."""
    return Answer(call.engine.get_files(call.context, stack.id))


def drift(call: Call, stack: Stack) -> Answer:
    """Show what is known to have drifted in a stack, and in those nested in it."""
    return Answer({"drift": views.drift(call, call.engine.show_drift(call.context, stack.id))})


def explanation(call: Call, stack: Stack) -> Answer:
    """Explain what a stack waits for, or why it failed."""
    return Answer({"explanation": call.engine.explain_stack(call.context, stack.id)})


def graph(call: Call, stack: Stack) -> Answer:
    """Show how the resources of a stack depend on each other."""
    return Answer({"graph": call.engine.show_graph(call.context, stack.id)})


@takes(query=schemas.PICTURE, no_other_query=True)
def picture(call: Call, stack: Stack) -> Answer:
    """Show what is to be drawn of a stack, however large it is."""
    query = call.query
    most = min(max(query["limit"] or FEWEST, FEWEST), MOST)
    row = call.engine.show_picture(call.context, stack.id, most, query["find"] or "", query["mark"])
    return Answer({"picture": row})
