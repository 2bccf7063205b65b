# SPDX-License-Identifier: Apache-2.0
"""The page that holds Heat's names against ours: doc/source/reference/compatibility.rst.

``python -m tools.compatibility`` writes it anew, from ``heat-27.yaml`` beside it and
from the code.  What is missing has its reason here, and nowhere else; a name that is
missing without one is a mistake, and so is a reason that has outlived its purpose.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import yaml

from tools import types_here
from tools.callers import Calls
from tools.heatconv_surface import Surface, surface

REFERENCE = Path(__file__).parents[1] / "doc/source/reference"
HEAT = REFERENCE / "heat-27.yaml"
PAGE = REFERENCE / "compatibility.rst"
COMMAND = "tox -e gencompat"

_NESTED = "comes with nested stacks"
_SWIFT = "needs a client of Swift"

VERSIONS = "Versions"

#: Why a name is missing: by subject, by name or a pattern for names.
REASONS: Mapping[str, Mapping[str, str]] = {
    "request keys": {
        "template_url": "the service fetches nothing; clients send the text",
        "files_container": f"{_SWIFT}; clients send the texts as ``files``",
    },
    "custom constraints": {"nova.network": "Nova has no networks any more; Heat checks nothing by it"},
    "event sinks": {"zaqar-queue": "needs a client of Zaqar; an environment may name it, to no effect"},
    "plugin hooks": {
        "_get_resource_info": _NESTED,
        "get_nested_parameters_stack": _NESTED,
        "handle_metadata_reset": "only scaling groups have it, and these are ours",
        "handle_preempt": "only nested stacks have it, and these are ours",
        "has_nested": _NESTED,
        "heat": "only a remote stack has it, and that is ours",
        "preview": "a stack is previewed from its templates",
        "reparse": "properties are read when they are asked for",
        "requires_deferred_auth": "users delegate whatever types their stack has",
        "signal_needs_metadata_updates": "a signal changes nothing of other resources' metadata",
        "strict_dependency": "no type of Heat's sets it: what is referred to is always waited for",
        "validate_template": _NESTED,
    },
    "plugin helpers": {
        "old_template_id": _NESTED,
        "rpc_client": "a plugin does not speak to engines, apart from Heat's own, which get software configs",
    },
    "resource types": {
        "AWS::ElasticLoadBalancing::LoadBalancer": "a server of 2014 that sets itself up; use Octavia",
    },
}


#: Types that are templates of Heat's sample environment, and why there are none such here.
SAMPLES: Mapping[str, str] = {
    "AWS::CloudWatch::Alarm": "for alarms that are gone",
    "AWS::RDS::DBInstance": "a server that sets itself up",
}


@dataclass(frozen=True)
class Subject:
    """How a subject is introduced, and which columns each of its names has."""

    about: str
    columns: Sequence[str] = ()  #: one for the parts of a name, unless ``cells`` has others
    #: makes a function that returns the cells of a name
    cells: Callable[[], Callable[[str], Sequence[str]]] | None = None


def _callers() -> Callable[[str], Sequence[str]]:
    calls = Calls.read()
    return lambda hook: [_quoted(each.removeprefix("heatconv.") for each in calls.of(hook))]


_TYPES = (
    """\
What users are shown. *Whose*: ours, or Heat's own plugin, which runs here as it is where there is
a cloud (:doc:`/howto/run-on-your-cloud`). *Made once*: by what an object is found again that an
interrupted create has made; if there is nothing, an event tells what may have been left behind.
*Listed together*: one call tells of many whether an action on them goes on, and whether these
properties are as they were given; others are waited for and looked at one by one. *Holds data*: a guard
with ``holds_data`` is about it (:doc:`environments`). *Mended*: what is
done otherwise than in Heat's plugin. Each of these is blank for what is no object of a cloud. What
Heat lists besides are templates of its sample environment, which is not here: """
    + "; ".join(f"``{name}``, {why}" for name, why in SAMPLES.items())
    + "."
)

SUBJECTS: Mapping[str, Subject] = {
    "routes": Subject("Paths below the project, with their methods.", ["Methods"]),
    "request keys": Subject("Keys of the bodies that describe a stack."),
    "actions": Subject("What ``POST .../actions`` takes."),
    "template versions": Subject("Versions of the template languages, and their aliases."),
    "template keys": Subject("Sections of a template, and keys of what is in them.", [VERSIONS]),
    "functions": Subject("Functions of the template languages.", [VERSIONS]),
    "condition functions": Subject("Functions that conditions can use.", [VERSIONS]),
    "parameter types": Subject("Types of parameters.", [VERSIONS]),
    "parameter constraints": Subject(
        "Kinds of constraints; CloudFormation's are keys of a parameter.", [VERSIONS]
    ),
    "custom constraints": Subject(
        "What ``custom_constraint`` can name. Those that Heat's clients bring are Heat's own, where "
        "there is a cloud.",
        ["Heat's module"],
    ),
    "environment sections": Subject("Sections of an environment."),
    "merge strategies": Subject("How files of an environment are merged."),
    "registry entries": Subject("What a ``resource_registry`` can put in place of a type."),
    "breakpoints": Subject("``hooks`` of a resource."),
    "restricted actions": Subject("``restricted_actions`` of a resource."),
    "event sinks": Subject("Types of ``event_sinks``."),
    "plugin hooks": Subject(
        "What the classes of Heat's own plugins override, or have because their base asks for it. It is "
        "here if something of ours calls it, or reads it, apart from types; the source tells what does.",
        ["Called by"],
        _callers,
    ),
    "plugin helpers": Subject(
        "What two or more of Heat's own plugin modules use of their base, hooks aside."
    ),
    "resource types": Subject(_TYPES, types_here.COLUMNS, lambda: types_here.notes),
    "hidden types": Subject(
        "Types that are there for old templates only, and that nobody is shown.",
        types_here.COLUMNS,
        lambda: types_here.notes,
    ),
    "properties": Subject("Properties of the types that are ours.", ["Properties"]),
    "attributes": Subject(
        "Attributes of the types that are ours, ``show`` aside: every type has it.", ["Attributes"]
    ),
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
    """Heat's names against ours; properties and attributes of no types but ours."""

    def __init__(
        self, heat: Surface, ours: Surface, reasons: Mapping[str, Mapping[str, str]] = REASONS
    ) -> None:
        parts = {
            subject: {name: has for name, has in heat[subject].items() if name in ours[subject]}
            for subject in PARTS_OF_TYPES
        }
        self.heat = {**heat, **parts}
        self.ours = ours
        self._reasons = reasons

    def mistakes(self) -> Iterator[str]:
        """Yield names that are missing without a reason, and reasons for names that are not missing."""
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
        heat = self.heat[subject]
        for name, parts in sorted(self.ours[subject].items()):
            if name not in heat:
                # The parts of a type that Heat does not have go without saying.
                if subject not in PARTS_OF_TYPES:
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
    layout = SUBJECTS[subject]
    cells = layout.cells() if layout.cells else lambda name: [_parts(comparison, subject, name)]
    rows = [
        (f"``{name}``", *(cells(name) if layout.columns else ()), comparison.answer(subject, name))
        for name in comparison.heat[subject]
    ]
    header = ("Heat", *layout.columns, "Here")
    about = textwrap.wrap(layout.about, width=96, break_on_hyphens=False)
    return [*_title(subject.capitalize(), "-"), *about, "", *_table(header, _widths(header), rows)]


def _widths(header: Sequence[str]) -> Sequence[int]:
    return (5, 5) if len(header) == 2 else (*(5 for _ in header[1:]), 4)


def _more(comparison: Comparison) -> Iterator[Sequence[str]]:
    """Yield a subject and what we have of it in addition."""
    for subject in SUBJECTS:
        for name, parts in comparison.beyond(subject):
            yield subject.capitalize(), f"``{name}``" + (f": {_quoted(parts)}" if parts else "")


_RULE = "=" * len("Compatibility with Heat")
_INTRODUCTION = f"""\
.. Made by `{COMMAND}`; do not edit.

The names by which users and plugins of Heat 27 reach for it, and whether they are
here: Heat's as an installed Heat lists them, ours as the code has them. A hook is here if it is
called. That a name is here says nothing else of what it does; that is for the tests. In the totals
a name counts once for each of the versions, methods, properties or attributes beside it.
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
        total = sum(len(parts) or (0 if subject in PARTS_OF_TYPES else 1) for parts in names.values())
        yield f"`{subject.capitalize()}`_", str(total), str(total - missing)


def _parts(comparison: Comparison, subject: str, name: str) -> str:
    parts = comparison.heat[subject][name]
    if VERSIONS not in SUBJECTS[subject].columns:
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
