# SPDX-License-Identifier: Apache-2.0
"""Domain names, as far as plugins have to judge them."""

from __future__ import annotations

import re

DNS_LABEL_MAX_LEN = 63
FQDN_MAX_LEN = 255

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", re.IGNORECASE)


def validate_dns_format(data: str) -> None:
    """Accept a domain name, with or without the dot at its end.

    Raises:
        ValueError: it is none, and why.
    """
    name = data.removesuffix(".")
    if len(name) > FQDN_MAX_LEN:
        raise ValueError(f"{data!r} is longer than {FQDN_MAX_LEN} characters")
    labels = name.split(".")
    for label in labels:
        if not label:
            raise ValueError(f"{data!r} has an empty part")
        if len(label) > DNS_LABEL_MAX_LEN or not _LABEL.fullmatch(label):
            raise ValueError(
                f"{label!r} in {data!r} has to be 1 to {DNS_LABEL_MAX_LEN} letters, digits and hyphens, "
                "with no hyphen at either end"
            )
    if len(labels) > 1 and labels[-1].isdigit():
        raise ValueError(f"the last part of {data!r} cannot be a number")
