# SPDX-License-Identifier: Apache-2.0
"""The keys of an installation, and what is done with them.

An operator gives one text; every use has a key of its own, derived from it, so
that what one of them gives away says nothing about another.
"""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from heatconv import errors

MIN_LENGTH = 32  #: of a key, in characters
MARK = "gcm-siv:"  #: what every encrypted text begins with
FERNET = "gAAAA"  #: what those begin with that were written before, by Fernet's format
_NONCE = 12  #: bytes


class Keyring:
    """The key that encrypts, and those that did so before and still decrypt; safe between threads.

    Texts are encrypted with AES-256-GCM-SIV (RFC 8452) under random nonces: a check encrypts a
    handful of them, and this costs a fifth of what Fernet does.  Unlike AES-GCM, where 2^32
    texts are the most for a key, it bears nonces that come twice.
    """

    def __init__(self, key: str, old_keys: Sequence[str] = ()) -> None:
        """Take the keys as an operator has written them.

        Raises:
            NoKey: one of them is too short.
        """
        self._keys = (key, *old_keys)
        if any(len(each) < MIN_LENGTH for each in self._keys):
            raise errors.NoKey
        self._ciphers = [AESGCMSIV(each) for each in self.subkeys("database values")]
        before = self.subkeys("database")
        self._fernets = MultiFernet([Fernet(base64.urlsafe_b64encode(each)) for each in before])

    def encrypt(self, text: str) -> str:
        """Return a text encrypted with the first key; never the same one twice."""
        nonce = os.urandom(_NONCE)
        return MARK + base64.b64encode(nonce + self._ciphers[0].encrypt(nonce, text.encode(), None)).decode()

    def decrypt(self, token: str) -> str:
        """Return the text that was encrypted, whichever key that was.

        Raises:
            WrongKey: it was none of these.
        """
        if token.startswith(MARK):
            for cipher in self._ciphers:
                with contextlib.suppress(InvalidTag, ValueError):
                    return _decrypted(cipher, token)
            raise errors.WrongKey
        try:
            return self._fernets.decrypt(token).decode()
        except InvalidToken:
            raise errors.WrongKey from None

    def is_current(self, token: str) -> bool:
        """Tell whether a text was encrypted with the first key, as texts are today."""
        try:
            return token.startswith(MARK) and bool(_decrypted(self._ciphers[0], token))
        except (InvalidTag, ValueError):
            return False

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
    return text.startswith((MARK, FERNET))


def _decrypted(cipher: AESGCMSIV, token: str) -> str:
    """Return what a cipher makes of an encrypted text.

    Raises:
        InvalidTag: it is not this cipher's.
        ValueError: it is none at all.
    """
    sealed = base64.b64decode(token[len(MARK) :])
    return cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], None).decode()


def _derived(key: str, label: str) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=f"heatconv {label}".encode()).derive(key.encode())
