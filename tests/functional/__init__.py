# SPDX-License-Identifier: Apache-2.0
"""Tests against the real thing: databases, a message bus, daemons."""
