# SPDX-License-Identifier: Apache-2.0
"""How events are kept and reach their sinks.

``events``, what happened; ``durations``, how long that took; ``sinks``, where events are delivered
to, and how far each sink is; ``changes``, which of them somebody has not seen.
"""
