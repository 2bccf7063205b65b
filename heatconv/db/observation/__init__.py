# SPDX-License-Identifier: Apache-2.0
"""What was made, as it really is.

``schedule``, when it is looked at; ``observable``, what there is to look at; ``observations``, what was seen;
``drifted``, which of many have drifted; ``taking_up``, how the next traversal begins on that; ``healing``,
what was put right.
"""
