# SPDX-License-Identifier: Apache-2.0
"""Where the functional tests get their servers from.

``catalog`` knows RabbitMQ, PostgreSQL and MariaDB, ``provision`` gets hold of
one, ``databases`` and ``bus`` give each test, or test run, a place of its own
in it.  ``processes`` and ``daemons`` run heatconv itself; ``nursery`` saves them most of what starting a
program costs.
"""
