# SPDX-License-Identifier: Apache-2.0
"""The vocabulary: frozen records, enumerations and node keys.

Pure values, no I/O.  Rows never leave ``heatconv.db``; what leaves it are the
records defined here.

What there is: begin with ``records``, which have ``ids`` and ``states``. ``definition`` is a
resource as its template wants it, and ``deferred`` is what only run time can know of it.
``unknown`` is the value of what nobody knows yet. ``software`` is what is run on servers,
``delegation`` is what a user delegates, and ``drift`` is how what is there differs from what was
made.

What a user has shown before it is done is a ``saved_plan``, and ``foreseen`` is what workers may do by it.

What is done: a ``plan`` says what a traversal is to do, on the ``nodes`` of its graph.  ``steps``
are what a worker finds to do for a node, and ``tokens`` saves what a plugin returned.  A check has
``endings``, and its transactions have ``outcomes``.  ``failure`` says why a stack failed,
``explanation`` why it is not done, and ``deletion`` by which policy a row is deleted.

What is bounded: ``bounds`` says how much a tree of stacks may hold, ``permission`` which types
somebody may use.  ``changes`` tells which events somebody has seen.  ``secrets`` keeps texts from being
shown.  ``work`` counts what a user's words ask for, and ``patterns`` matches a user's regular expressions.
"""
