# SPDX-License-Identifier: Apache-2.0
"""What answers a request: one module per noun, one function per route.

A handler takes a ``heatconv.api.call.Call`` and the fields of its URL, asks
the engine, and returns a ``heatconv.api.call.Answer``.
"""
