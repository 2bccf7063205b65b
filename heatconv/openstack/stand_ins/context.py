# SPDX-License-Identifier: Apache-2.0
"""``heat.common.context``: whom a plugin acts for."""

from __future__ import annotations

from heatconv.resources.context import Context as RequestContext

__all__ = ["RequestContext"]
