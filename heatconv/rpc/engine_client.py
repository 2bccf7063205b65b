# SPDX-License-Identifier: Apache-2.0
"""What can be asked of an engine: the contract between engines and who calls them.

Whoever calls has each endpoint as a method here; a part of the engine has a method of
the same name and parameters, and what that returns is the answer
(``heatconv.assembly.endpoints`` finds it).  Arguments and
results are plain JSON.  A *source* is what a user sends to describe a stack::

    {"template": {...} or "text", "environment": {...} or "text" or None,
     "environment_files": [...], "files": {...}, "parameters": {...}}

*Options* are the settings beside it; a key that is absent keeps its value::

    {"timeout_mins": 60, "disable_rollback": True, "tags": ["a"],
     "convergence": {"policy": "heal", "interval": 60}, "converge": True}

where ``converge`` has an update look at what is really there first; ``stack_id`` is the
id that a stack to be created gets; and ``adopt``, for a stack to be made of what is there
already, is what ``export_stack`` returned: its template, environment and files are then
those that the source is laid over.

A *stack* is told by name or id within the caller's project.  Timestamps are
``2026-01-31T12:00:00Z``.  Mistakes of the user come back as the
``heatconv.errors.UserError`` that the engine raised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heatconv.rpc.context import RequestContext
from heatconv.rpc.endpoint import Client, endpoint

# mypy: disable-error-code="empty-body"
# The bodies are what @endpoint makes of them.

Json = dict[str, Any]


class EngineClient(Client):
    """The engine's endpoints, as seen from whoever calls them."""

    # -- stacks: what should be ------------------------------------------------------

    @endpoint()
    def create_stack(self, context: RequestContext, name: str, source: Json, options: Json) -> str:
        """Store a stack, start to create it, return its id."""

    @endpoint()
    def create_nested_stacks(
        self, context: RequestContext, wanted: Sequence[Json], parts: Sequence[Any]
    ) -> list[Json | None]:
        """Do what ``create_stack`` does for stacks that have owners, all that nothing is in the way of.

        Args:
            context: who asks.
            wanted: of each stack its name, options and source, which has numbers of ``parts`` for values.
            parts: what the sources consist of, each once however many have it.

        Returns of each stack stack_id, traversal_id and leaves (list of resources' ids): the nodes that
        whoever asks is to have checked, for nobody was rung for them.  None stands for a stack that is to
        be asked for alone.
        """

    @endpoint()
    def update_stack(
        self, context: RequestContext, stack: str, source: Json, options: Json, *, existing: bool = False
    ) -> None:
        """Start to make a stack match another template, whatever runs now.

        ``existing`` (HTTP PATCH): what ``source`` lacks stays as it is, its
        parameters are laid over the old ones, and ``source`` may have
        ``clear_parameters``, a list of names.
        """

    @endpoint()
    def delete_stack(self, context: RequestContext, stack: str, *, abandon: bool = False) -> None:
        """Start to delete a stack, whatever runs now; ``abandon``: but nothing that it stands for."""

    @endpoint()
    def rollback_stack(self, context: RequestContext, stack: str) -> None:
        """Start to bring a stack back to the last template that reached COMPLETE."""

    @endpoint()
    def cancel_stack(self, context: RequestContext, stack: str, *, rollback: bool) -> None:
        """Stop the running update (with rollback) or create or update (without)."""

    @endpoint()
    def check_stack(self, context: RequestContext, stack: str) -> None:
        """Start to check that every resource of a stack still is as it was made."""

    @endpoint()
    def suspend_stack(self, context: RequestContext, stack: str) -> None:
        """Start to suspend every resource of a stack."""

    @endpoint()
    def resume_stack(self, context: RequestContext, stack: str) -> None:
        """Start to resume every resource of a suspended stack."""

    @endpoint(reads=True)
    def export_stack(self, context: RequestContext, stack: str) -> Json:
        """Return all that is known of a stack, for ``options["adopt"]`` of another to be made of."""

    @endpoint()
    def abandon_stack(self, context: RequestContext, stack: str) -> Json:
        """Return what ``export_stack`` does, and start to forget the stack."""

    # -- drift -----------------------------------------------------------------------

    @endpoint(reads=True)
    def observe_stack(self, context: RequestContext, stack: str, resource: str | None = None) -> Json:
        """Look at what a stack, or one resource, really is now, and return what ``show_drift`` does."""

    @endpoint()
    def converge_stack(self, context: RequestContext, stack: str, resource: str | None = None) -> None:
        """Look, and start to put right what has drifted in a stack, or one resource."""

    @endpoint(reads=True)
    def show_drift(self, context: RequestContext, stack: str, resource: str | None = None) -> Json:
        """Return what is known to have drifted in a stack and those nested in it, or of one resource.

        Keys: status (IN_SYNC, DRIFTED or UNKNOWN), since, observed_at (when all
        of it had been looked at), policy and interval that hold for the
        stack, resources (list of {"name", "stack" ({"name", "id"}), "type",
        "physical_id", "kind" (MISSING, CHANGED, UNEXPECTED or ERROR), "reason", "since",
        "left_alone", "differences" (list of {"property", "wanted",
        "observed"})}).
        """

    @endpoint(reads=True)
    def note_change(
        self, context: RequestContext, physical_ids: Sequence[str], *, all_projects: bool = False
    ) -> int:
        """Have things in the real world looked at soon that something has happened to.

        Returns of how many it is known that a stack has made them: one of the
        caller's project, or of any.
        """

    # -- snapshots -------------------------------------------------------------------

    @endpoint()
    def create_snapshot(self, context: RequestContext, stack: str, name: str | None) -> Json:
        """Start to make a snapshot of a stack and return it.

        Keys: id, name, action, status, reason, data (as ``export_stack``
        gives it; None until COMPLETE), created_at.
        """

    @endpoint(reads=True)
    def list_snapshots(self, context: RequestContext, stack: str) -> list[Json]:
        """Return the snapshots of a stack."""

    @endpoint(reads=True)
    def show_snapshot(self, context: RequestContext, stack: str, snapshot: str) -> Json:
        """Return a snapshot by id."""

    @endpoint()
    def delete_snapshot(self, context: RequestContext, stack: str, snapshot: str) -> None:
        """Start to delete a snapshot."""

    @endpoint()
    def restore_snapshot(self, context: RequestContext, stack: str, snapshot: str) -> None:
        """Start to bring a stack back to a snapshot."""

    # -- plans: what will be ---------------------------------------------------------------

    @endpoint()
    def create_plan(
        self, context: RequestContext, stack: str | None, action: str, source: Json, options: Json
    ) -> Json:
        """Plan an action, store the plan, and return its first page; nothing else is changed.

        That is what ``show_plan`` returns of it, with no more than 1000 resources.

        Args:
            context: who asks.
            stack: None, for one that is yet to be made: its ``name`` is among the options.
            action: create, update, rollback or delete.
            source: as for that action.
            options: as for that action; besides ``existing`` (what the source lacks stays as it is),
                ``refresh`` (look at what is really there first) and ``allow``, a list of what may be
                done (update, replace) where a plan could not foresee it.
        """

    @endpoint(reads=True)
    def show_plan(
        self, context: RequestContext, plan: str, *, start: int = 0, limit: int | None = None
    ) -> Json:
        """Return a plan, in the words of the schema that is published of it, and what comes ``next``.

        Args:
            context: who asks.
            plan: its id.
            start: how many of its ``resources`` are left out, which were seen before.
            limit: how many of them there are at most; None: all the others. ``next`` is where to
                start for more, or null.
        """

    @endpoint(reads=True)
    def list_plans(self, context: RequestContext, query: Json) -> list[Json]:
        """Return the project's plans as ``show_plan`` does, without ``resources``, the newest first.

        ``query``: stack (an id), limit (at most 1000, which it is if that is null), marker (a plan's id).
        """

    @endpoint()
    def delete_plan(self, context: RequestContext, plan: str) -> None:
        """Forget a plan."""

    @endpoint()
    def apply_plan(self, context: RequestContext, plan: str) -> Json:
        """Start to do what a plan says, and nothing else; return ``{"name", "id"}`` of its stack.

        A plan is refused (PlanStale) if anything that it goes by has changed.
        """

    # -- stacks: what would be ---------------------------------------------------------

    @endpoint(reads=True)
    def preview_create(self, context: RequestContext, name: str, source: Json, options: Json) -> Json:
        """Return the stack that ``create_stack`` would make.

        A stack as ``show_stack`` gives it, without state, and ``resources``: a
        list as ``list_resources`` gives it.
        """

    @endpoint(reads=True)
    def preview_update(
        self, context: RequestContext, stack: str, source: Json, options: Json, *, existing: bool = False
    ) -> Json:
        """Return what an update would change.

        ``{"unchanged": [], "updated": [], "replaced": [], "added": [],
        "deleted": []}``, lists of resources as ``list_resources`` gives them.
        """

    @endpoint(reads=True)
    def validate_template(self, context: RequestContext, source: Json, *, show_nested: bool = False) -> Json:
        """Return Heat's answer to /validate: Description, Parameters, ParameterGroups, Environment.

        ``show_nested`` adds NestedParameters, if templates are among the types.
        """

    # -- stacks: what is -------------------------------------------------------------------

    @endpoint(reads=True)
    def identify_stack(self, context: RequestContext, stack: str, *, resource: str | None = None) -> Json:
        """Return ``{"name", "id"}`` of a stack; a deleted one is found by id only.

        ``resource``: what is asked about is this resource of it; a stack user is told of the
        stack that its own is in.
        """

    @endpoint(reads=True)
    def show_stack(self, context: RequestContext, stack: str, *, resolve_outputs: bool = True) -> Json:
        """Return a stack.

        Keys: id, name, project, description, action, status, reason, phase
        (PREPARE, UPDATE, GC or DONE), progress ({"done", "total"} nodes of the
        phase), created_at, updated_at, deleted_at, parameters ({name: text},
        hidden ones masked), outputs (list of {"output_key", "description",
        "output_value", "output_error"?}; None unless resolved),
        disable_rollback, timeout_mins, tags (list), owner_id, user_name,
        convergence (its own policy, or None), drift ({"status", "since",
        "observed_at"}; None of a nested stack).
        """

    @endpoint(reads=True, since={"": "1.1"})
    def show_stacks(self, context: RequestContext, wanted: Sequence[Json]) -> list[Json | None]:
        """Return what ``show_stack`` does, of several stacks for several callers at once.

        Args:
            context: not one of the callers'.
            wanted: of each stack project_id (of who asks for it), stack_id and resolve_outputs.

        None stands for one that is to be asked for alone: the project has none of that id, or those
        before it took long.
        """

    @endpoint(reads=True, since={"search": "1.1"})
    def list_stacks(self, context: RequestContext, query: Mapping[str, Any], *, search: str = "") -> Json:
        """Return ``{"stacks": [...], "count": n or None}``, newest first by default.

        ``query``: limit, marker, sort_keys (stack_name, stack_status,
        creation_time, updated_time), sort_dir, with_count, with_drift (each has
        ``drift`` as ``show_stack`` gives it), show_deleted,
        show_nested (those too that belong to a resource), all_projects,
        filters ({key: [values]}; id, name, action, status, reason, project,
        username, parent, disable_rollback, timeout_mins,
        stack_user_project_id), tags, tags_any, not_tags, not_tags_any (lists).
        A status to filter by may have its action, as in ``CREATE_FAILED``.
        ``search``: what they have in their name or in one of their tags, in whichever case.
        """

    @endpoint(reads=True)
    def changed_stacks(self, context: RequestContext, known: Mapping[str, str]) -> dict[str, str]:
        """Return the fingerprints of those stacks that have another than is known, by id; for APIs alone.

        The stacks may be of any project: an API asks for all whom it has shown one.  The fingerprint of
        a stack that is gone is "", which is also what is known of one that nobody has looked at yet.
        """

    @endpoint(reads=True)
    def changed_trees(self, context: RequestContext, known: Mapping[str, str]) -> dict[str, str]:
        """Return the same of stacks together with all that is nested in them; of a nested one, by itself."""

    @endpoint(reads=True)
    def list_changes(
        self,
        context: RequestContext,
        stack: str,
        since: str | None = None,
        limit: int = 500,
        *,
        nested: bool = True,
    ) -> Json:
        """Return what is new in a stack since a cursor; with ``nested``, in those nested in a root stack too.

        Keys: cursor (a text to ask for what comes next; without ``since`` there is nothing else that is
        new), news (whether anything is), more (there is more than ``limit`` events: ask again), missed
        (there may be events that are gone and were not seen: read everything anew), stack (as
        ``show_stack`` gives it, without parameters and outputs), events (the oldest first, as
        ``list_events`` gives them; one may have been there before), resources (what they are of, as it is
        now: {"name", "type", "stack" ({"name", "id"}), "gone"}, and unless that is true "action", "status",
        "reason", "physical_id", "updated_at", "wanted", "requires" (names) and "clearing", the number of
        those rows of the name that await their cleanup).
        """

    @endpoint(reads=True)
    def get_template(self, context: RequestContext, stack: str) -> Json:
        """Return the template of a stack as it was posted."""

    @endpoint(reads=True)
    def get_environment(self, context: RequestContext, stack: str) -> Json:
        """Return the environment of a stack, hidden parameters masked."""

    @endpoint(reads=True)
    def get_files(self, context: RequestContext, stack: str) -> Json:
        """Return the files of a stack by name."""

    @endpoint(reads=True)
    def list_outputs(self, context: RequestContext, stack: str) -> list[Json]:
        """Return the outputs of a stack without their values."""

    @endpoint(reads=True)
    def show_output(self, context: RequestContext, stack: str, key: str) -> Json:
        """Return one output of a stack with its value."""

    @endpoint(reads=True)
    def explain_stack(self, context: RequestContext, stack: str) -> Json:
        """Return what a stack waits for, or why it failed.

        ``{"stack", "stack_status", "sentence", "deadline", "waits", "failures", "more"}``. A wait has
        ``names`` (from the stack in), ``path`` (those as one text, with dots), ``resource_type``, ``action``,
        ``cause`` (one of ``heatconv.model.explanation.Cause``), ``since``, ``worker`` (its id), ``sentence``,
        ``next`` and ``advice``. A failure has ``names``, ``path``, ``resource_type``, ``action``, ``reason``
        and ``physical_id``.
        ``more``: there are more of one of them than are named.
        """

    @endpoint(reads=True)
    def show_graph(self, context: RequestContext, stack: str) -> Json:
        """Return the dependency graph of a stack's resources.

        ``{"nodes": [{"name", "type", "action", "status", "reason",
        "physical_id"}], "edges": [[name, required name], ...]}``
        """

    @endpoint(reads=True)
    def show_picture(
        self, context: RequestContext, stack: str, most: int, find: str = "", mark: str | None = None
    ) -> Json:
        """Return what is to be drawn of a stack, without what is nested in its resources.

        ``{"stack", "total", "kinds": {kind: number}, "marks", "edges", "left_out", "found", "members"}``.
        A mark, of which there are ``most`` at most, has ``key``, ``kind`` (as ``heatconv.graph.picture.Kind``
        has them), ``count`` of resources, ``column``, ``row``, and of the first of these ``name``, ``type``,
        ``action``, ``status`` and ``nested`` ({"name", "id"} of its stack, or None).  An edge is [mark
        required, mark, rows in the columns between]; ``left_out`` is the number of those that are too many.
        ``found`` are names that contain ``find``, each with a mark of its own: ``find`` itself, then what
        begins with it, then others; ``members`` are the first resources of a ``mark``, each as it would be
        drawn alone, without a place.
        """

    # -- resources and events --------------------------------------------------------------

    @endpoint(reads=True)
    def list_resources(
        self,
        context: RequestContext,
        stack: str,
        filters: Json,
        *,
        nested_depth: int = 0,
        every: bool = False,
    ) -> list[Json]:
        """Return the resources of a stack, by name, then those of so many levels of nested stacks.

        Keys: id, name, type, physical_id, action, status, reason, required_by
        (names), created_at, updated_at, description, version, attributes (as
        last told to others), stack and nested ({"name", "id"} of the stack
        that has the resource, and of that which belongs to it, or None),
        parent_resource (the name of the resource that ``stack`` belongs to,
        or None).  A replaced or unwanted row that still awaits its cleanup is
        not listed under the name of one that is wanted, unless ``every`` asks
        for it: then each row has ``wanted``, and ``replaced_by``, {"id", "version",
        "physical_id", "action", "status"} of what took its place, or None.
        ``filters``: {key: [values]} on name, type, action, status, id, physical_id.
        """

    @endpoint(reads=True, since={"detail": "1.1"})
    def show_resource(
        self,
        context: RequestContext,
        stack: str,
        name: str,
        *,
        attributes: Sequence[str] = (),
        detail: bool = True,
    ) -> Json:
        """Return a resource as ``list_resources`` does, with all attributes its type has.

        ``attributes`` are names of more, such as ``show``.  What is not known
        is asked of the real world, and None if that does not tell.  Without
        ``detail`` there are no attributes, and nobody is asked.  ``drift``
        is what ``show_drift`` has of it, or None.
        """

    @endpoint(reads=True)
    def get_attribute(self, context: RequestContext, stack: str, name: str, attribute: str | None) -> Json:
        """Return an attribute of a resource, or its physical id; for workers alone.

        ``{"value": ..., "secrets": [...]}``: the latter are what must be hidden of it.
        """

    @endpoint(reads=True)
    def get_metadata(self, context: RequestContext, stack: str, name: str) -> Json:
        """Return the metadata of a resource."""

    @endpoint()
    def signal_resource(self, context: RequestContext, stack: str, name: str, details: Json) -> None:
        """Tell a resource something; ``unset_hook`` among the details clears a breakpoint."""

    @endpoint()
    def mark_unhealthy(
        self, context: RequestContext, stack: str, name: str, *, unhealthy: bool, reason: str
    ) -> None:
        """Mark a resource, by name or physical id, as CHECK_FAILED, or as healthy again."""

    @endpoint(reads=True)
    def list_events(self, context: RequestContext, stack: str, query: Json) -> list[Json]:
        """Return events of a stack, newest first by default.

        Keys: id (uuid), time, resource_name, resource_type, physical_id,
        action, status, reason, stack ({"name", "id"}).  Those of a stack
        itself have its name and type ``OS::Heat::Stack``.  ``query``: limit,
        marker (an event's id), sort_keys (event_time, resource_type),
        sort_dir, resource (a name), nested_depth (levels of nested stacks
        whose events to return too), filters ({key: [values]}; action, status,
        resource_name, resource_type).
        """

    @endpoint(reads=True)
    def show_event(self, context: RequestContext, stack: str, resource: str, event_id: str) -> Json:
        """Return one event with its ``resource_properties``."""

    # -- software configs and deployments ----------------------------------------------------

    @endpoint(reads=True)
    def list_software_configs(self, context: RequestContext, query: Json) -> list[Json]:
        """Return software configs, the newest first, without what is in them.

        Keys: id, name, group, project, created_at.  ``query``: limit, marker,
        all_projects.
        """

    @endpoint()
    def create_software_config(self, context: RequestContext, values: Json) -> Json:
        """Store a software config and return it.

        Keys: those of ``list_software_configs``, and config, inputs, outputs,
        options.  ``values``: name, group and the latter four.
        """

    @endpoint(reads=True)
    def show_software_config(self, context: RequestContext, config: str) -> Json:
        """Return a software config by id."""

    @endpoint()
    def delete_software_config(self, context: RequestContext, config: str) -> None:
        """Delete a software config that no deployment refers to."""

    @endpoint(reads=True)
    def list_software_deployments(self, context: RequestContext, server: str | None) -> list[Json]:
        """Return software deployments, all or those on a server, the oldest first.

        Keys: id, server_id, config_id, input_values, output_values, action,
        status, status_reason, created_at, updated_at.
        """

    @endpoint(reads=True)
    def list_deployed_configs(self, context: RequestContext, server: str) -> list[Json]:
        """Return the software configs that a server is to have, by name."""

    @endpoint()
    def create_software_deployment(self, context: RequestContext, values: Json) -> Json:
        """Store a software deployment and return it.

        ``values``: server_id, config_id, input_values, action, status,
        status_reason, stack_user_project_id (none other than the caller's own
        project); only the first two are required.
        """

    @endpoint(reads=True)
    def show_software_deployment(self, context: RequestContext, deployment: str) -> Json:
        """Return a software deployment by id."""

    @endpoint()
    def update_software_deployment(self, context: RequestContext, deployment: str, values: Json) -> Json:
        """Change what ``values`` has of a software deployment, and return it.

        ``values``: config_id, input_values, output_values, action, status,
        status_reason; None is as good as not given.
        """

    @endpoint()
    def delete_software_deployment(self, context: RequestContext, deployment: str) -> None:
        """Delete a software deployment."""

    # -- what can be declared, and who serves -------------------------------------------------

    @endpoint(reads=True)
    def list_resource_types(self, context: RequestContext, query: Json) -> list[Json]:
        """Return ``{"resource_type", "description"}`` of each type.

        ``query``: name (a regular expression), support_status, version.
        """

    @endpoint(reads=True)
    def show_resource_type(self, context: RequestContext, type_name: str) -> Json:
        """Return Heat's answer to /resource_types/{t}."""

    @endpoint(reads=True)
    def make_type_template(self, context: RequestContext, type_name: str, language: str) -> Json:
        """Return a template (``hot`` or ``cfn``) whose only resource is of a type."""

    @endpoint(reads=True)
    def list_template_versions(self, context: RequestContext) -> list[Json]:
        """Return ``{"version", "type", "aliases"}`` of each version a template may name.

        ``version`` is like ``heat_template_version.2013-05-23``, ``type`` is ``hot``.
        """

    @endpoint(reads=True)
    def list_template_functions(
        self, context: RequestContext, version: str, *, with_conditions: bool = False
    ) -> list[Json]:
        """Return ``{"functions", "description"}`` of each function of a template version.

        ``version`` is as ``list_template_versions`` names it; ``with_conditions``
        adds the functions that may be used in conditions only.
        """

    @endpoint(reads=True)
    def get_revision(self, context: RequestContext) -> str:
        """Return the version of heatconv that the engine runs."""

    @endpoint(reads=True)
    def list_services(self, context: RequestContext) -> list[Json]:
        """Return every daemon that heartbeats: id, binary, engine_id, host, topic, updated_at, status."""

    @endpoint(reads=True, since={"": "1.1"})
    def show_work(self, context: RequestContext) -> Json:
        """Return how much there is to do in all, in nodes, and how late it is, in seconds."""
