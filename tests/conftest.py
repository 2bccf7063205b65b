# SPDX-License-Identifier: Apache-2.0
"""What every test gets."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

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
