# SPDX-License-Identifier: Apache-2.0
"""What should be: turn requests into traversals, answer reads, recover what was lost.

Begin with a request that changes what a stack is to be. ``requests`` accepts it, ``prepare`` makes
a traversal of it (``visiting``, of one that leaves what is wanted as it is), and ``race`` starts the
traversal although others may start one of the same stack. ``once`` carries each request out once.
``posted_sources`` parses what was posted into a ``source``, ``patching`` lays it over what is
there, ``unmasking`` knows what is meant by what was shown masked, and ``options`` reads the
settings. ``nested_creation`` accepts the nested stacks that a
worker asks for together. ``applying`` is what a plan that is applied adds to all that.
``stack_quotas`` refuses what is too much, and ``delegating`` keeps what users delegate.

A source is frozen before it can be wanted: ``freezing`` does that, and ``freezer`` does it for
posted and for stored sources.  ``operator_environment`` holds for all templates, and ``memory``
keeps what stacks were frozen to last.  ``type_checks`` holds definitions against their types, and
``implied`` adds the dependencies that a plugin knows.  Of the templates inside a template,
``nesting`` finds the mistakes, ``written`` finds mistakes in values that are written out, and
``sizing`` counts resources.

Other requests are about a stack as it is: ``lifecycle`` suspends, resumes, checks, snapshots it, or
hands it over; ``signals`` stores what a resource is told, and ``signalled_plugins`` has the plugins
for that; ``software`` has configs and deployments.

Reads begin with ``lookup``, which finds the stack. ``reads``, ``resource_reads`` and
``event_reads`` say what is, ``changing`` what is new, and ``explaining`` why it is not done;
``picturing`` shows a stack of any size. ``validation`` judges a template for which there is no
stack, with ``nested_parameters`` for the stacks inside; ``types`` and ``languages`` say what a
template may use. ``plugin_access`` asks a plugin and changes nothing, and ``nested_stacks`` shows a
plugin the stacks inside. ``views`` shapes answers, ``redaction`` takes hidden values out of them,
and ``stack_users`` says what a stack user may reach.

``recovery`` finds the work that fell between two processes, ``purging`` drops what nobody needs,
``survey`` says how much there is, and ``orphans`` finds what no stack has.
"""
