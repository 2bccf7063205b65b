# SPDX-License-Identifier: Apache-2.0
"""Regular expressions of users, matched with bounded work.

Python's ``re`` backtracks: a short pattern and a short text can keep it busy
for years, and nothing can interrupt it.  So ``re`` checks the syntax and
single characters only.  Matching follows all possibilities at once, as a set
of positions in the text that each part of the pattern maps to another set; the
work is counted and bounded.  There are no back-references, which cannot be
matched like that.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from heatconv.model.work import TOO_MUCH_WORK, may_work

_MAX_LENGTH = 4000  # of a pattern
_WORK_PER_CHARACTER = 10  # to compile it
_WORK_PER_WIDE_RANGE = 20_000  # which ``re`` compiles character by character
_WIDE_RANGE = re.compile(r"-(?:[^\x00-\x7f]|\\[uUN])")
_MAX_DEPTH = 40  # of groups in a pattern
_MAX_WORK = 500_000  # positions looked at in one match: less than a second

Positions = AbstractSet[int]


class PatternError(Exception):
    """A pattern cannot be used; whoever was given it tells the user."""


class PatternTooHard(Exception):
    """A match takes too much work; whoever asked for it tells the user."""


class Pattern:
    """A regular expression that texts are matched with."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > _MAX_LENGTH:
            raise PatternError(f"A pattern can have {_MAX_LENGTH} characters, not {len(text)}.")
        wide = _WORK_PER_WIDE_RANGE * len(_WIDE_RANGE.findall(text))
        if not may_work(_WORK_PER_CHARACTER * len(text) + wide):
            raise PatternError(TOO_MUCH_WORK)
        try:
            compiled = re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            raise PatternError(f"It is not a regular expression: {error}.") from error
        self._part = _Parser(text, compiled.flags).parse()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def matches(self, value: str) -> bool:
        """Tell whether the whole of a text matches.

        Raises:
            PatternTooHard: it takes too much work to tell.
        """
        return len(value) in self._part(_Match(value), frozenset([0]))

    def starts(self, value: str) -> bool:
        """Tell whether some start of a text matches.

        Raises:
            PatternTooHard: it takes too much work to tell.
        """
        return bool(self._part(_Match(value), frozenset([0])))

    def is_in(self, value: str) -> bool:
        """Tell whether some part of a text matches.

        Raises:
            PatternTooHard: it takes too much work to tell.
        """
        return bool(self._part(_Match(value), frozenset(range(len(value) + 1))))


class _Match:
    """A text that is being matched, and the work done so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._work = 0

    def count(self, work: int) -> None:
        self._work += work + 1
        if self._work > _MAX_WORK:
            raise PatternTooHard("It cannot be matched with the pattern in reasonable time.")
        if not may_work(work + 1):
            raise PatternTooHard(TOO_MUCH_WORK)


#: A part of a pattern: from where matches of it may start to where they may end.
_Part = Callable[[_Match, Positions], Positions]


# -- parts ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Character:
    """One character out of a class."""

    compiled: re.Pattern[str]

    def __call__(self, match: _Match, starts: Positions) -> Positions:
        match.count(len(starts))
        text, accepts = match.text, self.compiled.match
        return {start + 1 for start in starts if start < len(text) and accepts(text[start])}


@dataclass(frozen=True)
class _Boundary:
    """A place between characters, such as ``^`` or ``$``."""

    compiled: re.Pattern[str]

    def __call__(self, match: _Match, starts: Positions) -> Positions:
        match.count(len(starts))
        return {start for start in starts if self.compiled.match(match.text, start)}


@dataclass(frozen=True)
class _Sequence:
    parts: tuple[_Part, ...]

    def __call__(self, match: _Match, starts: Positions) -> Positions:
        for part in self.parts:
            if not starts:
                break
            starts = part(match, starts)
        return starts


@dataclass(frozen=True)
class _Choice:
    parts: tuple[_Part, ...]

    def __call__(self, match: _Match, starts: Positions) -> Positions:
        return frozenset().union(*(part(match, starts) for part in self.parts))


@dataclass(frozen=True)
class _Repetition:
    part: _Part
    least: int
    most: int | None

    def __call__(self, match: _Match, starts: Positions) -> Positions:
        ends = starts
        for _turn in range(self.least):
            following = self.part(match, ends)
            if following == ends:
                break  # nothing moves any more: more turns would not either
            ends = following
        reached, turns = set(ends), self.least
        while ends and (self.most is None or turns < self.most):
            match.count(len(ends))
            ends = self.part(match, ends) - reached
            reached |= ends
            turns += 1
        return reached


@dataclass(frozen=True)
class _Ahead:
    """``(?=...)`` or ``(?!...)``."""

    part: _Part
    wanted: bool

    def __call__(self, match: _Match, starts: Positions) -> Positions:
        return {start for start in starts if bool(self.part(match, frozenset([start]))) is self.wanted}


# -- parsing: the syntax is known to be right, so only the structure is looked for --------------------


class _Parser:
    def __init__(self, text: str, flags: int) -> None:
        if flags & re.VERBOSE:
            raise PatternError("A pattern cannot use the verbose flag.")
        self._text = text
        self._flags = flags & (re.IGNORECASE | re.MULTILINE | re.DOTALL | re.ASCII)
        self._place = 0
        self._depth = 0

    def parse(self) -> _Part:
        """Return the whole pattern as one part."""
        flags = re.match(r"\(\?[aimsu]+\)", self._text)
        self._place = flags.end() if flags else 0
        part = self._choice()
        if self._place < len(self._text):
            raise PatternError("A pattern cannot use that kind of group.")
        return part

    def _choice(self) -> _Part:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise PatternError(f"A pattern cannot have more than {_MAX_DEPTH} groups in each other.")
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        self._depth -= 1
        return branches[0] if len(branches) == 1 else _Choice(tuple(branches))

    def _sequence(self) -> _Part:
        parts = []
        while self._place < len(self._text) and self._text[self._place] not in "|)":
            parts.append(self._repeated(self._atom()))
        return parts[0] if len(parts) == 1 else _Sequence(tuple(parts))

    def _repeated(self, part: _Part) -> _Part:
        found = _QUANTIFIER.match(self._text, self._place)
        if found is None:
            return part
        self._place = found.end()
        if found["mode"] == "+":
            raise PatternError("A pattern cannot use possessive quantifiers.")
        least, most = _QUANTITIES.get(found["mark"], (0, None))
        if found["mark"].startswith("{"):
            low, comma, high = found["mark"][1:-1].partition(",")
            least = int(low or 0)
            most = (int(high) if high else None) if comma else least
        return _Repetition(part, least, most)

    def _atom(self) -> _Part:
        text, start = self._text, self._place
        if self._take("("):
            return self._group()
        if text[start] == "[":
            self._place = _class_end(text, start)
        elif text[start] == "\\":
            return self._escape()
        else:
            self._place += 1
            if text[start] in "^$":
                return _Boundary(re.compile(text[start], self._flags))
        return _Character(re.compile(text[start : self._place], self._flags))

    def _escape(self) -> _Part:
        found = _ESCAPE.match(self._text, self._place)
        if found is None:
            raise PatternError("A pattern cannot refer back to a group.")
        self._place = found.end()
        compiled = re.compile(found.group(), self._flags)
        return _Boundary(compiled) if found.group() in _BOUNDARIES else _Character(compiled)

    def _group(self) -> _Part:
        found = _GROUP.match(self._text, self._place)
        if found is None:
            raise PatternError("A pattern cannot use that kind of group.")
        self._place = found.end()
        part = self._choice()
        self._take(")")
        opening = found.group()
        return _Ahead(part, opening == "?=") if opening in ("?=", "?!") else part

    def _take(self, character: str) -> bool:
        if not self._text.startswith(character, self._place):
            return False
        self._place += 1
        return True


_QUANTITIES: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_QUANTIFIER = re.compile(r"(?P<mark>[*+?]|\{\d+(?:,\d*)?\}|\{,\d+\})(?P<mode>[?+]?)")
_BOUNDARIES = (r"\b", r"\B", r"\A", r"\Z")
# Octal escapes have three digits or start with 0; other digits refer back.
_ESCAPE = re.compile(r"\\(?:x..|u.{4}|U.{8}|N\{[^}]*\}|[0-3][0-7]{2}|0[0-7]?|\D)", re.DOTALL)
_GROUP = re.compile(r"\?:|\?=|\?!|\?P<\w+>|(?!\?)")


def _class_end(text: str, start: int) -> int:
    """Return where a ``[class]`` ends."""
    place = start + 1
    if text.startswith("^", place):
        place += 1
    if text.startswith("]", place):
        place += 1
    while text[place] != "]":
        place += 2 if text[place] == "\\" else 1
    return place + 1
