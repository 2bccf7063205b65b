# SPDX-License-Identifier: Apache-2.0
"""How what is wanted is made so: stacks, resources, traversals and the checks of nodes.

In the order of a stack's life: ``stacks``, and what is ``shown`` of one; ``traversals``, where one
begins, with what it writes in ``traversal_stacks``, ``traversal_rows`` and ``layouts``, and with
``traversal_kinds``; ``sync_points``, what has to be done before what; ``claims``, who does it, with
``claimants``, who that is, and ``node_reads``, what they know; ``row_locks``, who may write
meanwhile; ``checks``, how it ended, and ``recording``, what is written of that; ``ahead``, what
comes after that, and ``propagation``, who hears of it; ``traversal_ends``, where the traversal
does, with ``completion``, where nothing is left to do; ``stretches``, what needs no claims;
``recovery``, what the dead left behind.  ``actions`` has what a worker writes while it acts on a
row, ``resources`` finds rows.  ``fingerprints`` find out which stacks have changed, ``ready_nodes``
what a stack waits for.

Beside it: ``nested`` stacks, and the ``owners`` that they are made for; ``snapshots``; ``signals``
and ``pending_signals``; ``delegations``, by what right daemons act; ``tree_quota`` and
``project_quota``, how much there may be; ``services``, who is alive.
"""
