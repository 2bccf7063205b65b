# SPDX-License-Identifier: Apache-2.0
"""Texts nobody can guess, made of what their classes of characters allow and demand."""

from __future__ import annotations

import secrets
import string
from collections.abc import Sequence
from dataclasses import dataclass

#: The classes of characters that have a name.
CHARACTERS = {
    "lettersdigits": string.ascii_letters + string.digits,
    "letters": string.ascii_letters,
    "lowercase": string.ascii_lowercase,
    "uppercase": string.ascii_uppercase,
    "digits": string.digits,
    "hexdigits": string.digits + "ABCDEF",
    "octdigits": string.octdigits,
}


@dataclass(frozen=True)
class CharClass:
    """Characters to choose from, and how many of them there are at least."""

    allowed_chars: str
    min_count: int = 1


def named_char_class(char_class: str, min_count: int = 0) -> CharClass:
    """Return the class of a name, one of ``CHARACTERS``."""
    return CharClass(CHARACTERS[char_class], min_count)


def special_char_class(allowed_chars: str, min_count: int = 0) -> CharClass:
    """Return a class of characters that has no name."""
    return CharClass(allowed_chars, min_count)


def generate_password(length: int, char_classes: Sequence[CharClass]) -> str:
    """Return a random text.

    Raises:
        ValueError: there is nothing to choose from, or the length is smaller
            than what the classes demand together.
    """
    everything = "".join(each.allowed_chars for each in char_classes)
    demanded = sum(each.min_count for each in char_classes)
    if not everything or length < demanded:
        raise ValueError(f"A text of {length} characters cannot hold {demanded} of {everything!r}.")
    chosen = [secrets.choice(each.allowed_chars) for each in char_classes for _ in range(each.min_count)]
    chosen += [secrets.choice(everything) for _ in range(length - demanded)]
    secrets.SystemRandom().shuffle(chosen)
    return "".join(chosen)


def generate_openstack_password() -> str:
    """Return a random text with something of everything that policies for passwords ask for."""
    named = [named_char_class(each, 1) for each in ("digits", "uppercase", "lowercase")]
    return generate_password(32, [*named, special_char_class("!@#%^&*", 1)])
