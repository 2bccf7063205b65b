# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::HARestarter: a type of old templates that does nothing any more."""

from __future__ import annotations

from heatconv.resources import support
from heatconv.resources.heat import none_resource
from heatconv.resources.i18n import _


class HARestarter(none_resource.NoneResource):
    """A resource that once restarted servers; it is accepted, and does nothing."""

    support_status = support.SupportStatus(
        support.HIDDEN,
        _("Mark a resource unhealthy and update the stack instead."),
        version="10.0.0",
        previous_status=support.SupportStatus(support.DEPRECATED, version="2015.1"),
    )
