# SPDX-License-Identifier: Apache-2.0
"""An installation that kept every bound of ours ran libraries with flaws that everybody knew.

There is no list of flaws to ask without a network: what was known when a bound was set is
written here, and beside the bound.
"""

from __future__ import annotations

import configparser
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]

#: The first release in which the last flaw that is known was mended.
MENDED = {
    "cryptography": "48.0.1",  # GHSA-537c-gmf6-5ccf
    "eventlet": "0.40.3",  # CVE-2025-58068
    "keystonemiddleware": "10.12.1",  # CVE-2026-22797
    "oslo.middleware": "3.23.1",  # CVE-2017-2592
    "oslo.utils": "4.12.1",  # CVE-2022-0718
    "psycopg2-binary": "2.9.11",  # CVE-2025-1094, in the libpq of its wheels
    "pymysql": "1.1.3",  # CVE-2024-36039, and a procedure's name that was not quoted
    "pyyaml": "5.4",  # CVE-2020-14343
    "requests": "2.33.0",  # CVE-2026-25645
    "waitress": "3.0.1",  # CVE-2024-49768, CVE-2024-49769
    "webob": "1.8.11",  # CVE-2026-44889, and what its mending left open
    "yaql": "3.0.0",  # CVE-2024-29156
}
#: What these bring along and hand strangers' bytes to; constraints.txt alone can bound it.
BROUGHT_ALONG = {
    "certifi": "2024.7.4",  # CVE-2024-39689
    "dnspython": "2.6.1",  # CVE-2023-29483
    "idna": "3.7",  # CVE-2024-3651
    "jinja2": "3.1.6",  # CVE-2025-27516
    "mako": "1.2.2",  # CVE-2022-40023
    "urllib3": "2.6.3",  # CVE-2026-21441
}


def _config():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    return config


REQUIRED = {
    requirement.name.lower(): requirement
    for line in _config()["options"]["install_requires"].split("\n")
    if line.strip()
    for requirement in [Requirement(line)]
}
PINNED = dict(
    line.lower().split("==")
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if line and not line.startswith("#")
)


def bound(requirement):
    (oldest,) = [each.version for each in requirement.specifier if each.operator == ">="]
    return Version(oldest)


@pytest.mark.parametrize("name", MENDED)
def test_no_bound_is_below_what_mended_a_flaw(name):
    assert bound(REQUIRED[name]) >= Version(MENDED[name])


@pytest.mark.parametrize("name", sorted(REQUIRED.keys() - {"tzdata"}))
def test_everything_has_a_bound_that_the_tests_keep(name):
    assert Version(PINNED[name]) >= bound(REQUIRED[name])
    assert Version(metadata.version(name)) >= bound(REQUIRED[name])


@pytest.mark.parametrize("name", BROUGHT_ALONG)
def test_what_comes_along_has_no_known_flaw_where_we_test(name):
    assert Version(PINNED[name]) >= Version(BROUGHT_ALONG[name])
