# SPDX-License-Identifier: Apache-2.0
"""The composition roots, one per daemon: the only place that knows executors.

Each ``main`` reads the configuration, puts the parts together, runs until it is
told to stop.  ``green`` is imported first of all: whatever is imported after
monkey-patching must not have been imported before.
"""

from __future__ import annotations

import warnings

# Whoever runs a daemon has chosen its executor; oslo.messaging imports eventlet whichever it is.
warnings.filterwarnings("ignore", message=r"\s*Eventlet is deprecated")
