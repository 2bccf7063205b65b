# SPDX-License-Identifier: Apache-2.0
"""Where events can be delivered to: one module per type of sink, and the table of the types.

A sink delivers one event when it is told to, or raises.  When that is, and what
becomes of an event that was not delivered, is up to ``heatconv.sinks.delivery``.
"""
