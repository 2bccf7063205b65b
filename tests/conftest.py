# SPDX-License-Identifier: Apache-2.0
"""What every test gets."""

from __future__ import annotations

import os
import signal
import warnings

from hypothesis import HealthCheck, Phase, settings

with warnings.catch_warnings():
    # Of what oslo.messaging imports, some says that it will not be there for ever.  It says so once,
    # and would fail whichever test is the first to import it.
    warnings.simplefilter("ignore")
    import oslo_messaging  # noqa: F401 - for what its import says

# A deadline in wall time fails on a busy machine for no reason of ours.  CI runs the same
# examples each time and says at once when one fails; a developer's machine goes on looking
# for new ones, and for the smallest that fails.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "ci",
    parent=settings.get_profile("here"),
    derandomize=True,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_configure() -> None:
    """Clean up when told to end as after Ctrl-C: daemons, databases, the virtual host."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
