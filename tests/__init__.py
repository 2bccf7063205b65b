# SPDX-License-Identifier: Apache-2.0
"""The tests: unit (no I/O), functional (real servers and daemons), perf (numbers)."""
