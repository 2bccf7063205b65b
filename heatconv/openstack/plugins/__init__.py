# SPDX-License-Identifier: Apache-2.0
"""Types of a cloud that are ours: those that Heat has made of its engine; one module per type."""
