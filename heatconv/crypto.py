# SPDX-License-Identifier: Apache-2.0
"""The keys of an installation, and what is done with them.

An operator gives one text; every use has a key of its own, derived from it, so
that what one of them gives away says nothing about another.  A text that
``generate_key`` has not made is a password, and is stretched first.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import secrets
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from heatconv import errors

MIN_LENGTH = 32  #: of a key, in characters
MARK = "sealed:"  #: what every encrypted text begins with
UNBOUND = "gcm-siv:"  #: what those begin with that earlier releases wrote: they may stand anywhere
FERNET = "gAAAA"  #: what those begin with that were written before these, by Fernet's format
_NONCE = 12  #: bytes

_RANDOM = 64  #: characters of a generated key, before its check sum
_CHECK = 8  #: characters of the check sum

#: What guessing a password costs: 128 MiB of memory, and half a second of a processor.
_SCRYPT = {"n": 2**17, "r": 8, "p": 1}


class Keyring:
    """The key that encrypts, and those that did so before and still decrypt; safe between threads.

    Texts are encrypted with AES-256-GCM-SIV (RFC 8452) under random nonces: a check encrypts a
    handful of them, and this costs a fifth of what Fernet does.  Unlike AES-GCM, where 2^32
    texts are the most for a key, it bears nonces that come twice.  Each is bound to the place that
    it is for, which it does not hold: it is decrypted for that place, and for no other.
    """

    def __init__(self, key: str, old_keys: Sequence[str] = (), *, accept_unbound: bool = False) -> None:
        """Take the keys as an operator has written them; the first use of a password takes half a second.

        Args:
            key: what encrypts.
            old_keys: what else decrypts.
            accept_unbound: decrypt for any place what earlier releases encrypted for none.

        Raises:
            NoKey: one of them is too short.
        """
        self._keys = (key, *old_keys)
        if any(len(each) < MIN_LENGTH for each in self._keys):
            raise errors.NoKey
        self.accepts_unbound = accept_unbound
        self._ciphers = [AESGCMSIV(each) for each in self.subkeys("sealed values")]
        self._unbound = [AESGCMSIV(_derived(each.encode(), "database values")) for each in self._keys]
        before = [_derived(each.encode(), "database") for each in self._keys]
        self._fernets = MultiFernet([Fernet(base64.urlsafe_b64encode(each)) for each in before])

    def encrypt(self, text: str, place: bytes) -> str:
        """Return a text encrypted with the first key, for a place; never the same one twice."""
        nonce = os.urandom(_NONCE)
        return MARK + base64.b64encode(nonce + self._ciphers[0].encrypt(nonce, text.encode(), place)).decode()

    def decrypt(self, token: str, place: bytes) -> str:
        """Return the text that was encrypted for a place, whichever key that was.

        Raises:
            WrongKey: it was none of these, or it was encrypted for another place.
            Unbound: it was encrypted by an earlier release, which is not accepted.
        """
        if token.startswith(MARK):
            return _decrypted_by_any(self._ciphers, token, MARK, place)
        if not self.accepts_unbound:
            raise errors.Unbound
        if token.startswith(UNBOUND):
            return _decrypted_by_any(self._unbound, token, UNBOUND, None)
        try:
            return self._fernets.decrypt(token).decode()
        except InvalidToken:
            raise errors.WrongKey from None

    def is_current(self, token: str, place: bytes) -> bool:
        """Tell whether a text was encrypted with the first key, for a place, as texts are today."""
        try:
            return token.startswith(MARK) and bool(_decrypted(self._ciphers[0], token, MARK, place))
        except (InvalidTag, ValueError):
            return False

    def subkey(self, label: str) -> bytes:
        """Return 32 bytes for another use of the first key; the same ones for the same label."""
        return self.subkeys(label)[0]

    def subkeys(self, label: str) -> list[bytes]:
        """Return ``subkey`` of every key, the first one's first: what an old one vouched for still counts."""
        return [_derived(_strong(each), label) for each in self._keys]

    def former_subkeys(self, label: str) -> list[bytes]:
        """Return the subkeys of those keys that are passwords, as earlier releases derived them."""
        return [_derived(each.encode(), label) for each in self._keys if not _is_generated(each)]


def generate_key() -> str:
    """Return a key that nobody can guess, and that can be told from a password."""
    random = secrets.token_urlsafe(_RANDOM * 3 // 4)
    return random + _check_sum(random)


def is_token(text: str) -> bool:
    """Tell whether a text is an encrypted one."""
    return text.startswith((MARK, UNBOUND, FERNET))


def _is_generated(key: str) -> bool:
    return len(key) == _RANDOM + _CHECK and key[_RANDOM:] == _check_sum(key[:_RANDOM])


def _check_sum(random: str) -> str:
    digest = hashlib.sha256(f"heatconv key {random}".encode()).digest()
    return base64.urlsafe_b64encode(digest).decode()[:_CHECK]


@functools.lru_cache(maxsize=64)  # once in a process
def _strong(key: str) -> bytes:
    """Return what takes as long to guess as a generated key, or at least long."""
    if _is_generated(key):
        return key.encode()
    # The same for every installation: there is nowhere to keep another that whoever needs it can read.
    return Scrypt(salt=b"heatconv", length=32, **_SCRYPT).derive(key.encode())


def _decrypted_by_any(ciphers: Sequence[AESGCMSIV], token: str, mark: str, place: bytes | None) -> str:
    for cipher in ciphers:
        try:
            return _decrypted(cipher, token, mark, place)
        except (InvalidTag, ValueError):
            pass
    raise errors.WrongKey


def _decrypted(cipher: AESGCMSIV, token: str, mark: str, place: bytes | None) -> str:
    """Return what a cipher makes of an encrypted text.

    Raises:
        InvalidTag: it is not this cipher's, or for another place.
        ValueError: it is none at all.
    """
    sealed = base64.b64decode(token[len(mark) :])
    return cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], place).decode()


def _derived(key: bytes, label: str) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=f"heatconv {label}".encode()).derive(key)
