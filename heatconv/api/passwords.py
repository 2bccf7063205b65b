# SPDX-License-Identifier: Apache-2.0
"""Passwords held against a file of hashes, so that guessing is no use.

Whether there is a user of a name shows in nothing, not in the time either that the
answer takes.  Guesses are slowed down, by name and by address; whoever gave the
right password lately is not.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import bcrypt

from heatconv import errors

_KINDS = (b"$2y$", b"$2a$", b"$2b$")
_DECOY = b"$2b$05$iy/xn44Jk5/Eq.ADqIgm..9piMDFnIKIWQp5.QOZtMVhepmtvQADy"  #: for a file without users
SLOTS = 4096  #: that names and addresses share
_REMEMBERED = 1000  #: of the passwords that were right


class TooManyGuesses(Exception):
    """Come back later."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@dataclass
class Guesses:
    """How many guesses there were of late: ``at_once``, and from then on one every so many ``seconds``.

    What they are about shares a fixed number of slots, so that nobody can fill the
    memory, or have a name forgotten by guessing at others.

    Concurrency: a guess is counted before it is tried, or many at a time would be one.
    """

    at_once: int
    seconds: float
    _free_at: list[float] = field(default_factory=lambda: [0.0] * SLOTS)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, slot: int) -> None:
        """Count a guess.

        Raises:
            TooManyGuesses: it is one too many, and is not counted.
        """
        with self._lock:
            now = monotonic()
            free_at = max(self._free_at[slot], now)
            wait = free_at - now - (self.at_once - 1) * self.seconds
            if wait > 0:
                raise TooManyGuesses(wait)
            self._free_at[slot] = free_at + self.seconds

    def forget(self, slot: int) -> None:
        """Count one guess less: it was none."""
        with self._lock:
            self._free_at[slot] -= self.seconds


class Passwords:
    """The passwords of a file, which is read anew each time."""

    def __init__(self, file: str) -> None:
        """Take a file as ``htpasswd -B`` writes it.

        Raises:
            Misconfigured: it cannot be read, or has another kind of hash.
        """
        self._file = file
        self._key = os.urandom(32)
        self._by_name = Guesses(at_once=20, seconds=10.0)
        self._by_address = Guesses(at_once=100, seconds=1.0)
        self._right: OrderedDict[bytes, None] = OrderedDict()
        try:
            hashes = self._hashes()
        except OSError as problem:
            raise errors.Misconfigured(self._wrong_file) from problem
        if not all(each.startswith(_KINDS) for each in hashes.values()):
            raise errors.Misconfigured(self._wrong_file)

    def are_right(self, name: str, password: bytes, address: str) -> bool:
        """Tell whether a name has a password.

        Raises:
            TooManyGuesses: there were too many for this name, or from this address.
        """
        given = self._digest(b"given", name.encode(), password)
        if given in self._right:
            return self._is_right(name, password)
        by_name, by_address = self._slot(b"name", name), self._slot(b"address", address)
        self._by_address.count(by_address)
        self._by_name.count(by_name)
        if not self._is_right(name, password):
            return False
        self._by_address.forget(by_address)
        self._by_name.forget(by_name)
        self._right[given] = None
        if len(self._right) > _REMEMBERED:
            self._right.popitem(last=False)
        return True

    def _is_right(self, name: str, password: bytes) -> bool:
        try:
            hashes = self._hashes()
        except OSError:
            hashes = {}
        usable = [each for each in hashes.values() if each.startswith(_KINDS)] or [_DECOY]
        # Hashes may differ in what they cost: that of a name that is not there is as likely as any.
        decoy = usable[self._slot(b"decoy", name) % len(usable)]
        found = hashes.get(name)
        known = found is not None and found.startswith(_KINDS)
        try:
            same = bcrypt.checkpw(password, found if known and found else decoy)
        except ValueError:  # bcrypt takes no password of 73 bytes, nor half a hash
            return False
        return known and same

    def _hashes(self) -> dict[str, bytes]:
        hashes: dict[str, bytes] = {}
        for line in Path(self._file).read_text(encoding="utf-8", errors="replace").splitlines():
            name, colon, hashed = line.strip().partition(":")
            if colon:
                hashes.setdefault(name, hashed.encode())
        return hashes

    def _slot(self, kind: bytes, text: str) -> int:
        return int.from_bytes(self._digest(kind, text.encode())[:8]) % SLOTS

    def _digest(self, *parts: bytes) -> bytes:
        """Return what stands for some texts in this process, and tells nothing of them."""
        joined = b"".join(b"%d:%s" % (len(part), part) for part in parts)
        return hmac.digest(self._key, joined, hashlib.sha256)

    @property
    def _wrong_file(self) -> str:
        return (
            f"The file {self._file} of [auth] http_basic_user_file cannot be read, or has other hashes "
            "than bcrypt's: make it with 'htpasswd -B'."
        )
