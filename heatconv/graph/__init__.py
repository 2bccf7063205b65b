# SPDX-License-Identifier: Apache-2.0
"""Dependency graphs: how one is built for a traversal, step by step.  Pure, no I/O."""
