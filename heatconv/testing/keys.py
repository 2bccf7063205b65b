# SPDX-License-Identifier: Apache-2.0
"""A key for tests, which keeps nothing secret: everybody can read it here."""

from __future__ import annotations

from heatconv.crypto import Keyring

KEY = "the-key-of-tests--known-to-all-and-sundry--as-long-as-all-othersq8E7mOSZ"
KEYRING = Keyring(KEY)
