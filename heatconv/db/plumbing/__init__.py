# SPDX-License-Identifier: Apache-2.0
"""How statements reach the database, the same for every table.

``session``, what a transaction is; ``connections``, where it takes place, and ``clusters``, what is
different where several servers are one; ``group_commit``, how many share one, and ``shared_reads``, how
many look up together; ``bulk``, one statement about many rows; ``together``, many statements as one;
``prepared``, statements that are planned but once; ``postgresql``, transactions that begin and end along
with statements; ``requests``, what is done but once however often it is asked for. ``types``, ``places`` and
``sealing`` keep columns secret; ``migration``, ``collation`` and ``statistics`` keep the database in shape;
``filters`` narrow lists; ``files`` are nobody else's.
"""
