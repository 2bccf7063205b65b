# SPDX-License-Identifier: Apache-2.0
"""Mistakes collected with the place they are at.

A user wants to hear of every mistake at once.  Whoever walks a template keeps
the *trail* (the keys and indexes from the root to where it is) and reports
here; raising is left to the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from heatconv.errors import Invalid
from heatconv.model.secrets import masked_text

Step = str | int

_MAX_REPORTED = 1000  # mistakes: more make an answer that nobody can carry or read


class Problems:
    """The mistakes found so far, and the trail to where we are."""

    def __init__(self, spelled: Callable[[Sequence[Step]], Sequence[Step]] = list) -> None:
        """Start with nothing found; ``spelled`` turns a trail into the words of the user's language."""
        self.trail: list[Step] = []
        self.found: list[tuple[str, str]] = []
        self.secrets: set[str] = set()  #: texts that no mistake may repeat
        self._spelled = spelled

    @contextmanager
    def at(self, *steps: Step) -> Iterator[None]:
        """Walk down some steps for the time of a ``with`` block."""
        self.trail.extend(steps)
        try:
            yield
        finally:
            del self.trail[-len(steps) :]

    def report(self, sentence: str, *steps: Step) -> None:
        """Note a mistake that is ``steps`` below where we are."""
        self.found.append((path_of(self._spelled([*self.trail, *steps])), sentence))

    def report_call(self, sentence: str) -> None:
        """Note a mistake of the function where we are; below a property as Heat's clients expect it."""
        words = self._spelled(self.trail)
        if len(words) > 3 and words[0] == "resources" and words[2] == "properties":
            self.found.append((f"Property error: : {path_of(words[:-1])}: ", sentence))
        else:
            self.report(sentence)

    def raise_any(self) -> None:
        """Raise what was found, if anything was.

        Raises:
            Invalid: with every mistake, in the order it was found.
        """
        found = list(dict.fromkeys(self.found))
        if len(found) > _MAX_REPORTED:
            found[_MAX_REPORTED:] = [("", f"There are {len(found) - _MAX_REPORTED} more mistakes.")]
        if found:
            raise Invalid(
                problems=[
                    (masked_text(path, self.secrets), masked_text(sentence, self.secrets))
                    for path, sentence in found
                ]
            )


def path_of(steps: Iterable[Step]) -> str:
    """Return the text of a path: ``resources.r.properties.p[1]``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")


def kind_of(value: object) -> str:
    """Return what a template's author would call a value's type."""
    return _KINDS.get(type(value), type(value).__name__)


def excerpt(value: object) -> str:
    """Return a value as an error text may quote it: short, on one line."""
    return shortened(repr(value) if isinstance(value, str) else str(value), 60)


def shortened(text: str, length: int) -> str:
    """Return a text, or its beginning if it is longer than that."""
    return text if len(text) <= length else f"{text[:length]}..."


_KINDS = {
    str: "a text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "a list",
    tuple: "a list",
    dict: "a map",
    type(None): "null",
}
