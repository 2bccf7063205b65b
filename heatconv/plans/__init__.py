# SPDX-License-Identifier: Apache-2.0
"""What will be: the engine's own decision, made before anything is done, with what is unknown as a value.

``plans`` is what users ask for: it stores plans, and applies them. ``making`` makes one: ``planning``
walks over a tree of stacks as a traversal would, on the rows that are ``known``; ``inside`` has the
stacks in it, ``foresight`` says by the worker's own code what becomes of a resource, ``leaving`` what
becomes of those that nothing wants any more, and ``outputs`` what a resource will give to others. What is
``said`` of a resource is a ``forecast``; ``showing`` has the parts of it that change, ``reasons`` why they
do, and ``lasting`` how long that should take. ``guards`` are rules on plans. Whether a plan holds still when
it is applied is found by ``holding``: ``fence`` finds what has changed since it was made, ``types`` whether
the resource types have, and ``merging`` lays what was posted over what others have made of the stack
meanwhile. ``preview`` shows plans in the form that Heat's clients know.
"""
