# SPDX-License-Identifier: Apache-2.0
"""``heat.common.netutils``: ours, and how the prefixes of a subnet pool may change."""

from __future__ import annotations

from collections.abc import Iterable

import netaddr

from heatconv.resources.netutils import DNS_LABEL_MAX_LEN, FQDN_MAX_LEN, validate_dns_format

__all__ = ["DNS_LABEL_MAX_LEN", "FQDN_MAX_LEN", "is_prefix_subset", "validate_dns_format"]


def is_prefix_subset(orig_prefixes: Iterable[str], new_prefixes: Iterable[str]) -> bool:
    """Tell whether the new prefixes cover every address of the original ones."""
    return bool(netaddr.IPSet(orig_prefixes).issubset(netaddr.IPSet(new_prefixes)))
