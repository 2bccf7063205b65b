# SPDX-License-Identifier: Apache-2.0
"""Make one resource so: claim it, act on it, tell its successors.

In the order of reading: ``check`` is the way a message takes; ``decide`` (pure) says what is to
be done; ``act`` drives the plugin, and what comes of that is in ``endings``.

Around acting: ``attempts``, what is written meanwhile; ``resume``, how another's action is gone on with;
``overtaking``, when something newer is wanted; ``mishaps``, what an error means; ``replacement`` and
``handover``; ``deletions`` and ``late``, what comes after one; ``setbacks``, how an action waits or fails.

Around the check: ``held``, what waits for the real world or for a thread; ``release``, what is given
back; ``fair_queue``, whose turn it is.  Whose threads all that runs on is said in ``assembly``.
"""
