# SPDX-License-Identifier: Apache-2.0
"""Resource types: which of them a list shows, and how a template for one looks."""

from __future__ import annotations

from heatconv.api.query import Keys, choice, flag, text

SUPPORT_STATUSES = ("UNKNOWN", "SUPPORTED", "DEPRECATED", "UNSUPPORTED", "HIDDEN")

LIST: Keys = {
    "name": text("A regular expression that the name has to begin with."),
    "support_status": choice("How far the type has to be supported.", SUPPORT_STATUSES),
    "version": text("The release since which the type has to be supported, or was."),
    "with_description": flag("Whether to tell a description beside the name."),
}

TEMPLATE: Keys = {
    "template_type": choice("The language of the template.", ("cfn", "hot"), default="cfn"),
}
