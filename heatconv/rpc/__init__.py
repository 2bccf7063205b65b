# SPDX-License-Identifier: Apache-2.0
"""The bus: what travels on it, and the only users of oslo.messaging.

A message carries keys, never data.  Losing, repeating or reordering messages
may cost time, never correctness.

Begin with ``engine_client``, which has all that an engine can be asked.  ``endpoint`` makes a
method of it a call, ``asking`` asks another engine when one is silent, and ``pulse`` has the signs
of life of an engine that was asked.  With a call travels what ``asked`` says of the request, the
``context`` that says who asks, and the caller's token, which ``tokens`` seals.

``grouped_reads`` asks for what many callers want by one call.

``versions`` says what is understood while daemons of two releases run, and ``serving`` refuses what is not.

``doorbell`` is how engines and workers wake each other.  ``notifications`` are what services
publish.  ``bus`` carries all of these, over connections that ``rabbit`` makes cheap, and ``memory``
is a bus inside one process.
"""
