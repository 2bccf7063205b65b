# SPDX-License-Identifier: Apache-2.0
"""A world to test in: a fake cloud, scenarios as prose, a deterministic scheduler.

Shipped with heatconv, so that authors of plugins can put theirs through the
same interruptions.  The fake cloud knows nothing of heatconv's database: what
it holds is reality, and reality alone decides whether a scenario came out
right.

Begin with ``scenario``, which has the verbs of a world.  One world is ``simulated``, in a thread
that ``simulator`` schedules, and one is ``real``, of processes.  A scenario writes ``templates``,
or ``trees`` of them with stacks inside; ``parameters`` says what a template comes to with those that it
is given.

``cloud`` is the fake cloud.  Its ``gate`` is where an interruption is placed, and ``failures`` are
what the cloud can do wrong.  ``cloud_server`` puts the cloud behind HTTP, ``cloud_client`` connects
to it, and ``plugins`` has its resource types.

``faults`` is a bus that treats messages badly, ``doorbell`` is one that nobody hears, and ``keys``
has a key for tests.
"""
