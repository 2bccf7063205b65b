# SPDX-License-Identifier: Apache-2.0
"""Make one resource so: claim it, act on it, tell its successors.

``check`` is the way a message takes; ``decide`` (pure) says what is to be done;
``act`` drives the plugin; ``waiting`` keeps what is not finished at once;
``service`` connects all that to the bus.
"""
