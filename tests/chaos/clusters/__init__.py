# SPDX-License-Identifier: Apache-2.0
"""Clusters of servers underneath heatconv, and what becomes of them: ``python -m tests.chaos.clusters``.

``node`` is what the servers of all clusters have in common; ``galera``, ``rabbitmq`` and ``postgresql`` are
the clusters, and ``balancer`` stands in front of database nodes as HAProxy does; ``beside`` lets nodes die,
stop and part, and ``standstill`` measures how long nothing ended meanwhile; ``kinds`` puts it together.
"""
