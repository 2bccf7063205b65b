# SPDX-License-Identifier: Apache-2.0
"""The command line: cliff commands over the HTTP client.

One module per noun; ``main`` is the program, ``graph_*`` draw dependency
graphs, ``progress`` and ``tail`` follow what a stack does.
"""
