# SPDX-License-Identifier: Apache-2.0
"""``events``, what happened; ``sinks``, who is told of it, and how far each of them is."""
