# SPDX-License-Identifier: Apache-2.0
"""Modules that stand in for Heat's where plugins need more than the contract of ``heatconv.resources``.

One module per module of Heat's, which the first line names; ``nothing`` stands in for those modules
of which plugins need nothing.
"""
