# SPDX-License-Identifier: Apache-2.0
"""The bus: what travels on it, and the only users of oslo.messaging.

A message carries keys, never data.  Losing, repeating or reordering messages
may cost time, never correctness.
"""
