# SPDX-License-Identifier: Apache-2.0
"""The keys of an installation, and what is done with them.

An operator gives one text; every use has a key of its own, derived from it, so
that what one of them gives away says nothing about another.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from heatconv import errors

MIN_LENGTH = 32  #: of a key, in characters
TOKEN = "gAAAA"  # noqa: S105 - what every encrypted text begins with, by Fernet's format


class Keyring:
    """The key that encrypts, and those that did so before and still decrypt; safe between threads."""

    def __init__(self, key: str, old_keys: Sequence[str] = ()) -> None:
        """Take the keys as an operator has written them.

        Raises:
            NoKey: one of them is too short.
        """
        self._keys = (key, *old_keys)
        if any(len(each) < MIN_LENGTH for each in self._keys):
            raise errors.NoKey
        fernets = [Fernet(base64.urlsafe_b64encode(each)) for each in self.subkeys("database")]
        self._first = fernets[0]
        self._all = MultiFernet(fernets)

    def encrypt(self, text: str) -> str:
        """Return a text encrypted with the first key; never the same one twice."""
        return self._first.encrypt(text.encode()).decode()

    def decrypt(self, token: str) -> str:
        """Return the text that was encrypted, whichever key that was.

        Raises:
            WrongKey: it was none of these.
        """
        try:
            return self._all.decrypt(token).decode()
        except InvalidToken:
            raise errors.WrongKey from None

    def is_current(self, token: str) -> bool:
        """Tell whether a text was encrypted with the first key."""
        try:
            self._first.decrypt(token)
        except InvalidToken:
            return False
        return True

    def subkey(self, label: str) -> bytes:
        """Return 32 bytes for another use of the first key; the same ones for the same label."""
        return self.subkeys(label)[0]

    def subkeys(self, label: str) -> list[bytes]:
        """Return ``subkey`` of every key, the first one's first: what an old one vouched for still counts."""
        return [_derived(each, label) for each in self._keys]


def generate_key() -> str:
    """Return a key that nobody can guess."""
    return secrets.token_urlsafe(48)


def is_token(text: str) -> bool:
    """Tell whether a text is an encrypted one."""
    return text.startswith(TOKEN)


def _derived(key: str, label: str) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=f"heatconv {label}".encode()).derive(key.encode())
