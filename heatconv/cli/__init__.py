# SPDX-License-Identifier: Apache-2.0
"""The command line: cliff commands over the HTTP client, one module per noun; stacks have several.

Begin with ``main``, the program, and ``base``, which has what every command has.  ``request`` makes
a request of the arguments that describe a stack.  ``progress`` waits for a stack, and ``tail``
follows its events.  ``graph_svg`` draws a dependency graph, and ``graph_text`` writes it as text.

A plan goes through ``plan_view`` while it arrives: ``plan_facts`` puts what it says of a resource into
lines, ``plan_outline`` makes one entry of what is alike, ``plan_text`` prints these as a tree,
``plan_graph`` makes a graph of them, and ``plan_json`` writes the plan to a file and finds its id there.
"""
