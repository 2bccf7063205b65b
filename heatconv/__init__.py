# SPDX-License-Identifier: Apache-2.0
"""heatconv makes declared infrastructure real and keeps it so.

A user posts a template; an engine turns it into a dependency graph in a
database and rings a doorbell per node on a message bus; stateless workers
converge one resource each.  ``doc/source/explanation`` tells how.
"""
