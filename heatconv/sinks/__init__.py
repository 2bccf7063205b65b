# SPDX-License-Identifier: Apache-2.0
"""Where events can be delivered to.

A sink delivers one event when it is told to, or raises.  When that is, and what becomes of an event
that was not delivered, is up to ``delivery``.

Begin with ``contract``, which says what a sink is, and what an event is as it is sent.  ``stillness``
spares looks where nothing happens.  ``types`` has the table of the types of sinks.  Two types are our
own: ``webhook``, which posts to the ``addresses`` that the operator allows, and ``notification``, which
writes to the message bus.
"""
