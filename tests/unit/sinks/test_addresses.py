# SPDX-License-Identifier: Apache-2.0
"""Which URLs are below which others, and which could be read in two ways."""

from __future__ import annotations

import pytest

from heatconv.sinks.addresses import Address, is_allowed

ALLOWED = [Address.of("https://hooks.example.org/heat"), Address.of("http://10.0.0.1:8080/")]


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.org/heat",
        "https://hooks.example.org/heat/",
        "https://hooks.example.org/heat/a?b=c",
        "https://hooks.example.org:443/heat/a",
        "HTTPS://Hooks.Example.Org/heat/a",
        "http://10.0.0.1:8080",
        "http://10.0.0.1:8080/any/where",
    ],
)
def test_what_is_below_is_allowed(url):
    assert is_allowed(Address.of(url), ALLOWED)


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.org/heat",
        "https://hooks.example.org/",
        "https://hooks.example.org/heater",
        "https://hooks.example.org/Heat",
        "https://hooks.example.org:8443/heat",
        "https://hooks.example.org.evil.net/heat",
        "https://evil.net/https:/hooks.example.org/heat",
        "https://example.org/heat",
        "http://10.0.0.1/heat",
        "http://010.0.0.1:8080/",
        "http://[::1]:8080/",
    ],
)
def test_what_is_not_is_not(url):
    assert not is_allowed(Address.of(url), ALLOWED)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hooks.example.org/heat",
        "ftp://hooks.example.org/heat",
        "file:///etc/passwd",
        "https:///heat",
        "https://hooks.example.org@evil.net/heat",
        "https://me:secret@hooks.example.org/heat",
        "https://hooks.example.org/heat/../admin",
        "https://hooks.example.org/heat/%2e%2E/admin",
        "https://hooks.example.org/heat/..%2fadmin",
        "https://hooks.example.org/heat/..%5cadmin",
        "https://hooks.example.org/heat\\..\\admin",
        "https://hooks.example.org/heat#part",
        "https://evil.net/https://hooks.example.org/heat",
        "https://hooks.example.org/he at",
        "https://hooks.example.org/heat\r\nHost: evil.net",
        "https://hooks.example.org/h\N{LATIN SMALL LETTER E WITH ACUTE}at",
        "https://hooks.example.org:99999/heat",
        "https://hooks.example.org:x/heat",
        "https://[::1/heat",
    ],
)
def test_what_could_be_read_in_two_ways_is_no_address(url):
    with pytest.raises(ValueError, match=r"\w"):
        Address.of(url)


def test_what_may_be_told_of_an_address_is_where_it_is_and_no_more():
    assert Address.of("https://hooks.example.org/secret?token=1").origin == "https://hooks.example.org"
    assert Address.of("http://[::1]:8080/x").origin == "http://[::1]:8080"
