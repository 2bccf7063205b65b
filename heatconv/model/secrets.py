# SPDX-License-Identifier: Apache-2.0
"""Texts that must not be shown, and how they are kept out of what is.

A secret is known by what it reads like, wherever it turns up: where it came
from is lost as soon as a plugin, or a service, repeats it in a sentence of its
own.
"""

from __future__ import annotations

import base64
import json
import threading
import traceback
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

HIDDEN = "******"  #: what is shown in place of a secret

MOST = 100_000  #: characters of secrets that are looked for together; of more, nothing is shown at all
PIECE = 12  #: characters of a secret in a row that are enough to recognize it by
WORD = 4  #: a shorter one is found where it stands alone: as a part of words it means nothing

MAX_SENTENCE = 4000  #: characters of what a plugin or a service says that are kept

REDACTED = "$redacted"  #: the note of a plugin's that lists the notes not to be shown


def masked(value: Any, secrets: Iterable[str]) -> Any:
    """Return JSON data with the secrets in it hidden, keys of maps included."""
    mask = _mask(frozenset(secrets))
    return value if mask is None else mask.value(value)


def masked_text(text: str, secrets: Iterable[str]) -> str:
    """Return a text with the secrets, and pieces of them, hidden."""
    mask = _mask(frozenset(secrets))
    return text if mask is None else mask.text(text)


def sentence(text: str, secrets: Iterable[str] = ()) -> str:
    """Return what a plugin or a service said, as it may be kept and shown.

    Without secrets, of a bounded length, and without what a database cannot hold.
    """
    storable = text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
    said = masked_text(storable, secrets)
    return said if len(said) <= MAX_SENTENCE else f"{said[:MAX_SENTENCE]}..."


def account(error: BaseException, secrets: Iterable[str]) -> str:
    """Return an error with its traceback and its causes', for a log, without secrets."""
    return masked_text("".join(traceback.format_exception(error)), secrets)


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts and the numbers in JSON data, as texts; true and false tell nothing apart."""
    if isinstance(value, dict):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def redacted(notes: Mapping[str, str]) -> set[str]:
    """Return the keys of those of a plugin's notes that are never to be shown."""
    return set(json.loads(notes[REDACTED])) if REDACTED in notes else set()


def redacted_values(notes: Mapping[str, str]) -> set[str]:
    """Return what those notes say."""
    return {notes[key] for key in redacted(notes) & notes.keys()}


def found_in(value: Any, secrets: Iterable[str]) -> tuple[str, ...]:
    """Return the secrets of which some JSON data has at least a piece, in order."""
    return tuple(sorted(secret for secret in set(secrets) if masked(value, [secret]) != value))


def has_whole(text: str, secrets: Iterable[str]) -> bool:
    """Tell whether hiding the secrets leaves nothing of them in a text.

    It does of a text that has one whole, and of one that is a part of one.  A text
    that only shares a piece with a secret was made of it some other way: of what was
    put in capitals, for one, the digits are the same, and the rest would be left.
    """
    mask = _mask(frozenset(secrets))
    return mask is not None and mask.knows(text)


class _Masks:
    """Those that were used last, as many as have few enough characters together.

    Concurrency: safe to share between threads.
    """

    def __init__(self) -> None:
        self._masks: OrderedDict[frozenset[str], tuple[_Mask | None, int]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def of(self, secrets: frozenset[str]) -> _Mask | None:
        """Return the mask of some secrets; None if there is nothing to hide."""
        with self._lock:
            if secrets in self._masks:
                self._masks.move_to_end(secrets)
                return self._masks[secrets][0]
        weight = sum(map(len, secrets))
        if weight > MOST:
            return _Mask(set(secrets), is_blind=True)
        given = {spelling for secret in secrets for spelling in _spellings(secret) if spelling.strip()}
        mask = _Mask(given) if given else None
        with self._lock:
            if secrets not in self._masks:
                self._masks[secrets] = (mask, weight + _MASK)
                self._weight += weight + _MASK
            while self._weight > MOST:
                self._weight -= self._masks.popitem(last=False)[1][1]
        return mask


_MASK = 1000  # what a mask weighs that hides hardly anything
_mask = _Masks().of


def _spellings(secret: str) -> Iterator[str]:
    """Yield the ways a text is written: as it is, quoted for JSON, for URLs, and in base64."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield quote(secret, safe="")
    if len(secret) >= PIECE:
        yield from _in_base64(secret.encode(errors="replace"))


def _in_base64(secret: bytes) -> Iterator[str]:
    """Yield what is always the same of a text in base64, by how many bytes are before it."""
    for before in range(3):
        coded = base64.b64encode(bytes(before) + secret).decode()
        yield coded[-(-before * 8 // 6) : (before + len(secret)) * 8 // 6]


class _Mask:
    """Some secrets, prepared to be looked for; one that is blind shows nothing at all."""

    def __init__(self, secrets: set[str], *, is_blind: bool = False) -> None:
        self._secrets = secrets
        self._is_blind = is_blind
        self._short = {secret for secret in secrets if len(secret) <= PIECE}
        self._lengths = sorted({len(secret) for secret in self._short}, reverse=True)
        self._firsts = {secret[0] for secret in self._short if secret}
        self._pieces = {
            secret[start : start + PIECE]
            for secret in secrets
            for start in range(len(secret) - PIECE + 1)
            if len(secret) > PIECE and not is_blind
        }

    def knows(self, text: str) -> bool:
        """Tell whether a text has a secret whole, or is a part of one."""
        if self.text(text) == text:
            return False
        return any(secret in text or text in secret for secret in self._secrets)

    def value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return HIDDEN if self.text(str(value)) != str(value) else value
        return value

    def text(self, text: str) -> str:
        if self._is_blind:
            return HIDDEN
        if self._pieces:
            text = self._without_pieces(text)
        return self._without_short(text) if self._short else text

    def _without_short(self, text: str) -> str:
        """Hide the short ones, the longest first everywhere; looked up, for there may be thousands."""
        kept: list[str] = []
        end = 0
        for start, first in enumerate(text):
            if first not in self._firsts or start < end:
                continue
            for length in self._lengths:
                if start + length > len(text):
                    continue
                if text[start : start + length] in self._short and _may_hide(text, start, length):
                    kept += [text[end:start], HIDDEN]
                    end = start + length
                    break
        return "".join([*kept, text[end:]])

    def _without_pieces(self, text: str) -> str:
        starts = [i for i in range(len(text) - PIECE + 1) if text[i : i + PIECE] in self._pieces]
        if not starts:
            return text
        kept: list[str] = []
        end = 0
        for start in starts:
            if start > end or not kept:
                kept += [text[end:start], HIDDEN]
            end = start + PIECE
        return "".join([*kept, text[end:]])


def _may_hide(text: str, start: int, length: int) -> bool:
    """Tell whether a secret of a length is to be hidden that is found at a place."""
    around = text[max(start - 1, 0) : start] + text[start + length : start + length + 1]
    return length >= WORD or not any(each.isalnum() or each == "_" for each in around)
