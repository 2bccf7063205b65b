# SPDX-License-Identifier: Apache-2.0
"""The truth: every table, and every statement that touches one.

One function is one transaction.  A conditional write is named ``try_*`` and
tells whether it won; its docstring names the WHERE that guards it.  Rows never
leave this package: what leaves it are the records of ``heatconv.model``.

Locks are taken in one order, so that transactions do not deadlock: stack,
then resources by id, then sync points by key.

To be read in this order: ``tables``, what there is, and ``rows``, which record each row becomes;
``convergence``, how what is wanted is made so; ``observation``, how what was made is looked at;
``delivery``, how events are kept and reach their sinks;
``plans``, what users want to see before it is done; ``software``, what runs in servers; ``purging``,
what goes in the end; ``restoring``, what a dump does not know; ``upgrading``, what nobody needs any more
when an upgrade is over; ``belonging``, what the world as a whole
is compared with; ``surveys``, how much there is to do; ``sizing``, how much the server takes.
``plumbing`` is below all of these.  ``migrations`` has the steps, one file each, that bring an
older database to these tables.
"""
