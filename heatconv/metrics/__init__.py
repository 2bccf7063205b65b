# SPDX-License-Identifier: Apache-2.0
"""Metrics: what a process counts and measures for Prometheus.

``declared`` has all of them, with what each means.  ``instruments`` is what they are made of: as
long as ``instruments.switch_on`` was not called, to count is to do nothing.  ``transactions``
counts what only holds if a transaction does, ``types`` bounds the resource types that are named,
and ``endings`` says what the end of a claim and of a check count for.

Who counts makes one call where something has happened; who serves the figures is
``heatconv.cmd.monitoring``.
"""
