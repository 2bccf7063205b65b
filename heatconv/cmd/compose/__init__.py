# SPDX-License-Identifier: Apache-2.0
"""How the parts of each service are put together from a daemon and its configuration.

A module a service: no daemon loads what only another one needs.
"""
