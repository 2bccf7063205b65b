# SPDX-License-Identifier: Apache-2.0
"""The custom constraints that ask no service; templates and plugins know them by their entry points."""

from __future__ import annotations

import functools
import ipaddress
import json
import zoneinfo
from typing import Any

import croniter
import netaddr
from oslo_utils import timeutils as oslo_timeutils

from heatconv.resources.netutils import FQDN_MAX_LEN, validate_dns_format


class Judge:
    """A custom constraint that knows by itself; ``judge`` raises ValueError for what is not valid."""

    _reason = ""

    def validate(self, value: Any, context: Any, template: Any = None) -> bool:
        """Tell whether the value is valid."""
        try:
            self.judge(value)
        except ValueError as error:
            self._reason = str(error)
            return False
        return True

    def judge(self, value: Any) -> None:
        """Accept a value.

        Raises:
            ValueError: it is not valid, and why.
        """
        raise NotImplementedError

    def error(self, value: Any) -> str:
        """Return the sentence for a value that did not validate."""
        return self._reason


class IPAddress(Judge):
    """``ip_addr``: an address of IPv4 or IPv6."""

    def judge(self, value: Any) -> None:
        ipaddress.ip_address(str(value))


class IPAddressOrNetwork(Judge):
    """``ip_or_cidr``: an address, or a network: an address with the length of its prefix."""

    def judge(self, value: Any) -> None:
        try:
            ipaddress.ip_interface(str(value))
        except ValueError:
            raise ValueError(f"{value!r} is neither an address nor a network such as 10.0.0.0/24") from None


class Network(IPAddressOrNetwork):
    """``net_cidr``: a network."""

    def judge(self, value: Any) -> None:
        if "/" not in str(value):
            raise ValueError(f"{value!r} is not a network such as 10.0.0.0/24")
        super().judge(value)


class MACAddress(Judge):
    """``mac_addr``: six bytes, written in any of the ways that Neutron reads them in."""

    def judge(self, value: Any) -> None:
        if not netaddr.valid_mac(str(value)):
            raise ValueError(f"{value!r} is not a MAC address such as fa:16:3e:00:00:01")


class DNSName(Judge):
    """``dns_name``: a domain name; it may be empty."""

    def judge(self, value: Any) -> None:
        if value:
            validate_dns_format(str(value))


class RelativeDNSName(DNSName):
    """``rel_dns_name``: a domain name to which a domain is still to be added."""

    def judge(self, value: Any) -> None:
        if str(value).endswith("."):
            raise ValueError(f"{value!r} ends with a dot, so it is not a relative name")
        if len(str(value)) > FQDN_MAX_LEN - len("a."):
            raise ValueError(f"{value!r} is too long to add a domain to it")
        super().judge(value)


class DNSDomain(DNSName):
    """``dns_domain``: a domain name with the dot at its end; it may be empty."""

    def judge(self, value: Any) -> None:
        if value and not str(value).endswith("."):
            raise ValueError(f"{value!r} does not end with a dot")
        super().judge(value)


class CronExpression(Judge):
    """``cron_expression``: times as cron knows them; it may be empty."""

    def judge(self, value: Any) -> None:
        if value and not croniter.croniter.is_valid(str(value)):
            raise ValueError(f"{value!r} is not a cron expression such as */5 * * * *")


class Timezone(Judge):
    """``timezone``: a name of the time zone database; it may be empty."""

    def judge(self, value: Any) -> None:
        if value and str(value) not in _timezones():
            raise ValueError(f"{value!r} is not a time zone such as Europe/Berlin")


@functools.cache
def _timezones() -> set[str]:
    return zoneinfo.available_timezones()


class ISO8601(Judge):
    """``iso_8601``: a time."""

    def judge(self, value: Any) -> None:
        oslo_timeutils.parse_isotime(str(value))


class Expiration(Judge):
    """``expiration``: a time that is still to come; it may be empty."""

    def judge(self, value: Any) -> None:
        if value:
            at = oslo_timeutils.normalize_time(oslo_timeutils.parse_isotime(str(value).strip()))
            if at <= oslo_timeutils.utcnow():
                raise ValueError(f"{value!r} is in the past")


class JSONString(Judge):
    """``json_string``: the text of a JSON value."""

    def judge(self, value: Any) -> None:
        try:
            json.loads(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{value!r} is not JSON: {error}") from error
