# SPDX-License-Identifier: Apache-2.0
"""Dependency graphs: how one is built for a traversal, step by step, and how one is shown.  Pure, no I/O.

Begin with ``traversal``, which plans what has to be done to make the rows of a stack match a
template.  ``dag`` is the acyclic graph that the plan is laid out in; it knows nothing of resources.

``picture`` rolls up what is alike, so that a stack of any size can be looked at, and ``layout`` places what
is to be drawn.
"""
