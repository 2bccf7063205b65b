# SPDX-License-Identifier: Apache-2.0
"""The composition roots, one module per daemon: the only place that knows executors.

Each ``main()`` reads the configuration, puts the parts together, runs until it is told to stop.
``green`` is imported first of all: whatever is imported after monkey-patching must not have been
imported before.

``all`` is every daemon in one process; ``manage`` and ``status`` are no daemons but the operator's
tools. Other modules have what these programs share: ``daemon`` does what every daemon does,
``compose`` puts the parts of each service together, ``keys`` finds the keys of the database,
``upgrades`` says how far an upgrade has come, ``processes`` runs a daemon in several processes,
``reloading`` has one read its configuration again when SIGHUP comes, ``monitoring`` says how a
daemon is to those who watch over it, and ``systemd`` does so where it is systemd that has started
it.
"""

from __future__ import annotations

import warnings

# Whoever runs a daemon has chosen its executor; oslo.messaging imports eventlet whichever it is.
warnings.filterwarnings("ignore", message=r"\s*Eventlet is deprecated")
