# SPDX-License-Identifier: Apache-2.0
"""The page that holds Heat's names against ours: doc/source/reference/compatibility.rst.

``python -m tools.compatibility`` writes it anew, from ``heat-27.yaml`` beside it and
from the code.  What is missing has its reason here, and nowhere else; a name that is
missing without one is a mistake, and so is a reason that has outlived its purpose.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import yaml

from tools.heatconv_surface import Surface, surface

REFERENCE = Path(__file__).parents[1] / "doc/source/reference"
HEAT = REFERENCE / "heat-27.yaml"
PAGE = REFERENCE / "compatibility.rst"
COMMAND = "tox -e gencompat"

_NESTED = "comes with nested stacks"
_SWIFT = "needs a client of Swift"

#: Why a name is missing: by subject, by name or a pattern for names.
REASONS: Mapping[str, Mapping[str, str]] = {
    "request keys": {
        "template_url": "the service fetches nothing; clients send the text",
        "files_container": f"{_SWIFT}; clients send the texts as ``files``",
    },
    "custom constraints": {"*.*": "needs a client of that service; a plugin can bring both"},
    "event sinks": {"zaqar-queue": "needs a client of Zaqar; an environment may name it, to no effect"},
    "plugin hooks": {
        "_get_resource_info": _NESTED,
        "get_nested_parameters_stack": _NESTED,
        "validate_template": _NESTED,
    },
    "plugin helpers": {
        "old_template_id": _NESTED,
        "rpc_client": "a plugin does not speak to engines",
    },
    "resource types": {
        "OS::Heat::Stack": _NESTED,
        "OS::Heat::SwiftSignal*": _SWIFT,
        "OS::Heat::DeployedServer": "comes with the types for servers",
    },
}

#: What each subject is about.  What a name has beside it is the second column's, if there is one.
SUBJECTS: Mapping[str, tuple[str, str]] = {
    "routes": ("Paths below the project, with their methods.", "Methods"),
    "request keys": ("Keys of the bodies that describe a stack.", ""),
    "actions": ("What ``POST .../actions`` takes.", ""),
    "template versions": ("Versions of the template languages, and their aliases.", ""),
    "template keys": ("Sections of a template, and keys of what is in them.", "Versions"),
    "functions": ("Functions of the template languages.", "Versions"),
    "condition functions": ("Functions that conditions can use.", "Versions"),
    "parameter types": ("Types of parameters.", "Versions"),
    "parameter constraints": ("Kinds of constraints; CloudFormation's are keys of a parameter.", "Versions"),
    "custom constraints": ("What ``custom_constraint`` can name.", ""),
    "environment sections": ("Sections of an environment.", ""),
    "merge strategies": ("How files of an environment are merged.", ""),
    "registry entries": ("What a ``resource_registry`` can put in place of a type.", ""),
    "breakpoints": ("``hooks`` of a resource.", ""),
    "restricted actions": ("``restricted_actions`` of a resource.", ""),
    "event sinks": ("Types of ``event_sinks``.", ""),
    "plugin hooks": (
        "What the classes of Heat's own plugins override, or have because their base asks for it.",
        "",
    ),
    "plugin helpers": ("What two or more of Heat's own plugin modules use of their base, hooks aside.", ""),
    "resource types": ("``OS::Heat`` types.", ""),
    "properties": ("Properties of the types that are here.", "Properties"),
    "attributes": ("Attributes of the types that are here, ``show`` aside: every type has it.", "Attributes"),
}

PARTS_OF_TYPES = ("properties", "attributes")
#: The headings above some of them.
_CHAPTERS = {
    "routes": "REST",
    "template versions": "Templates",
    "environment sections": "Environments",
    "plugin hooks": "Plugins",
    "resource types": "Types",
}


def load() -> Surface:
    """Return Heat's names by subject, each with its parts, if it has any."""
    names = yaml.safe_load(HEAT.read_text())
    return {
        subject: found if isinstance(found, dict) else {name: [] for name in found}
        for subject, found in names.items()
    }


class Comparison:
    """Heat's names against ours; of the types that are missing no properties and attributes."""

    def __init__(
        self, heat: Surface, ours: Surface, reasons: Mapping[str, Mapping[str, str]] = REASONS
    ) -> None:
        types = ours["resource types"]
        parts = {
            subject: {name: has for name, has in heat[subject].items() if name in types}
            for subject in PARTS_OF_TYPES
        }
        self.heat = {**heat, **parts}
        self.ours = ours
        self._reasons = reasons

    def mistakes(self) -> Iterator[str]:
        """Yield what is missing without a reason, and the reasons that are none."""
        for subject, names in self.heat.items():
            for name in names:
                for item in self.missing(subject, name):
                    if self._reason(subject, item) is None:
                        yield f"{subject}: {item} is missing, and there is no reason why"
        for subject, reasons in self._reasons.items():
            for pattern in reasons:
                yield from self._objections(subject, pattern)

    def _objections(self, subject: str, pattern: str) -> Iterator[str]:
        missing = {
            item
            for name in self.heat[subject]
            for item in self.missing(subject, name)
            if fnmatchcase(item, pattern)
        }
        if not missing:
            yield f"{subject}: {pattern} is not missing, yet there is a reason why"
        for name in self.heat[subject]:
            if fnmatchcase(name, pattern) and not self.missing(subject, name):
                yield f"{subject}: {name} is here, yet {pattern} gives a reason why not"

    def missing(self, subject: str, name: str) -> list[str]:
        """Return the name if it is missing, or else with it each part of it that is."""
        if name not in self.ours[subject]:
            return [name]
        return [f"{name} {part}" for part in self.heat[subject][name] if part not in self.ours[subject][name]]

    def beyond(self, subject: str) -> Iterator[tuple[str, list[str]]]:
        """Yield the names that Heat does not have, and others with the parts that Heat's lack."""
        heat, types = self.heat[subject], self.heat["resource types"]
        for name, parts in sorted(self.ours[subject].items()):
            if name not in heat:
                # The parts of a type that Heat does not have go without saying.
                if subject not in PARTS_OF_TYPES or name in types:
                    yield name, []
            elif more := [part for part in parts if part not in heat[name]]:
                yield name, more

    def answer(self, subject: str, name: str) -> str:
        """Return whether a name is here; if not, or not all of it, why."""
        missing = self.missing(subject, name)
        if not missing:
            return "yes"
        if missing == [name]:
            return f"no: {self._reason(subject, name)}"
        parts = [item.removeprefix(f"{name} ") for item in missing]
        return "; ".join(f"no ``{part}``: {self._reason(subject, f'{name} {part}')}" for part in parts)

    def _reason(self, subject: str, item: str) -> str | None:
        reasons = self._reasons.get(subject, {}).items()
        return next((reason for pattern, reason in reasons if fnmatchcase(item, pattern)), None)


# -- the page --------------------------------------------------------------------------------------


def page(comparison: Comparison) -> str:
    """Return the page."""
    lines = [_RULE, "Compatibility with Heat", _RULE, "", *_INTRODUCTION]
    lines += _table(("Subject", "In Heat", "Here"), (4, 1, 1), _totals(comparison))
    for subject in SUBJECTS:
        if subject in _CHAPTERS:
            lines += _title(_CHAPTERS[subject], "=")
        lines += _section(comparison, subject)
    lines += [*_title("Beyond Heat", "="), "What has a name here and none in Heat.", ""]
    lines += _table(("Subject", "Here"), (2, 5), _more(comparison))
    return "\n".join(lines) + "\n"


def _section(comparison: Comparison, subject: str) -> list[str]:
    about, column = SUBJECTS[subject]
    header, widths = (("Heat", column, "Here"), (5, 5, 4)) if column else (("Heat", "Here"), (5, 5))
    rows = [
        (
            f"``{name}``",
            *([_parts(comparison, subject, name)] if column else []),
            comparison.answer(subject, name),
        )
        for name in comparison.heat[subject]
    ]
    return [*_title(subject.capitalize(), "-"), about, "", *_table(header, widths, rows)]


def _more(comparison: Comparison) -> Iterator[Sequence[str]]:
    """Yield a subject and what we have of it in addition."""
    for subject in SUBJECTS:
        for name, parts in comparison.beyond(subject):
            yield subject.capitalize(), f"``{name}``" + (f": {_quoted(parts)}" if parts else "")


_RULE = "=" * len("Compatibility with Heat")
_INTRODUCTION = f"""\
.. Made by `{COMMAND}`; do not edit.

The names by which users and plugins of Heat 27 reach for it, and whether they are
here: Heat's as an installed Heat lists them, ours as the code has them. That a name is here
says nothing of what it does; that is for the tests. In the totals a name counts once for
each of the versions, methods, properties or attributes beside it.
""".split("\n")


def _totals(comparison: Comparison) -> Iterator[Sequence[str]]:
    """Yield how many names of each subject there are, a name with parts counted by its parts."""
    for subject in SUBJECTS:
        names = comparison.heat[subject]
        missing = sum(
            len(parts) or 1 if gone == [name] else len(gone)
            for name, parts in names.items()
            if (gone := comparison.missing(subject, name))
        )
        total = sum(len(parts) or (0 if SUBJECTS[subject][1] else 1) for parts in names.values())
        yield f"`{subject.capitalize()}`_", str(total), str(total - missing)


def _parts(comparison: Comparison, subject: str, name: str) -> str:
    parts = comparison.heat[subject][name]
    if SUBJECTS[subject][1] != "Versions":
        return _quoted(parts)
    return "; ".join(_spans(parts, comparison.heat["template versions"]))


def _spans(dates: Sequence[str], names: Iterable[str]) -> Iterator[str]:
    """Yield in words which versions are among some."""
    keys = {name.partition(".")[2]: name.partition(".")[0] for name in names}
    hot = sorted(date for date, key in keys.items() if key == "heat_template_version" and date[0].isdigit())
    known = [date for date in hot if date in dates]
    if known:
        first, last = known[0], known[-1]
        # What came never goes and comes back: the versions between the two have it as well.
        span = first if first == last else f"{first} to {last}"
        yield f"HOT since {first}" if last == hot[-1] else f"HOT {span}"
    others = [date for date in dates if date not in hot]
    if others:
        yield f"CloudFormation {', '.join(others)}"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"``{name}``" for name in names)


def _title(text: str, line: str) -> list[str]:
    return ["", text, line * len(text), ""]


def _table(header: Sequence[str], widths: Sequence[int], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {' '.join(map(str, widths))}", ""]
    for row in (header, *rows):
        for index, cell in enumerate(row):
            start = f"   {' ' if index else '*'} - "
            lines += textwrap.wrap(
                cell,
                width=96,
                initial_indent=start,
                subsequent_indent=" " * 7,
                break_long_words=False,
                break_on_hyphens=False,
            ) or [start.rstrip()]
    return lines


def current() -> Comparison:
    """Return the comparison of what Heat's file and the code say now."""
    heat = load()
    return Comparison(heat, surface(heat))


if __name__ == "__main__":
    PAGE.write_text(page(current()))
