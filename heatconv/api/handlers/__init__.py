# SPDX-License-Identifier: Apache-2.0
"""What answers a request: one module per noun, one function per route.

A handler takes a ``heatconv.api.call.Call`` and the fields of its URL, asks
the engine, and returns a ``heatconv.api.call.Answer``.

Begin with ``stacks``.  Two modules differ: ``source`` has no route, and turns a body that describes
a stack into what an engine takes; ``versions`` answers without an engine.
"""
