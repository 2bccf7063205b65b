# SPDX-License-Identifier: Apache-2.0
"""Reference tables that are made from the code, so that they cannot be out of date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from docutils import nodes
from oslo_policy.policy import DocumentedRuleDefault
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from heatconv.api.handlers import lookup
from heatconv.api.policies import list_rules
from heatconv.api.policies.base import BELOW
from heatconv.api.routes import ROUTES
from heatconv.metrics import declared
from heatconv.model import work
from heatconv.model.bounds import GROUPS
from heatconv.template import limits
from heatconv.template.resource_registry import MAX_PATTERNS
from heatconv.template.versions import Version, functions_of, versions

REDIRECTS = (lookup.by_name, lookup.by_arn)


class Table(SphinxDirective):
    """A table with a header, whose cells are reStructuredText."""

    header: Sequence[str]
    widths: Sequence[int]

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        widths = " ".join(map(str, self.widths))
        lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", ""]
        for row in [self.header, *self.rows()]:
            lines += [f"   {'*' if index == 0 else ' '} - {cell}" for index, cell in enumerate(row)]
        return self.parse_text_to_nodes("\n".join(lines))

    def rows(self) -> Iterable[Sequence[str]]:
        """Return the rows, each a sequence of cells."""
        raise NotImplementedError


class RestRoutes(Table):
    """Method, path and meaning of each call of the REST API, redirects left out."""

    header = ("Method", "Path", "")
    widths = (1, 4, 4)

    def rows(self) -> Iterable[Sequence[str]]:
        """See Table."""
        for path, handlers in ROUTES.items():
            for method, handler in handlers.items():
                if handler in REDIRECTS:
                    continue
                yield f"``{method}``", f"``{path}``", (handler.__doc__ or "").partition("\n")[0]


class TemplateFunctions(Table):
    """Each template function, with the versions that have it."""

    header = ("Function", "", "Versions")
    widths = (2, 5, 2)

    def rows(self) -> Iterable[Sequence[str]]:
        """See Table."""
        summaries: dict[str, str] = {}
        having: dict[str, list[Version]] = {}
        for version in versions():
            for function, summary in functions_of(version.full_names[0], with_conditions=True):
                summaries[function] = summary
                having.setdefault(function, []).append(version)
        for function in sorted(summaries):
            yield f"``{function}``", summaries[function], "; ".join(_spans(having[function]))


class TemplateVersions(Table):
    """Each version of the template languages."""

    header = ("Key", "Value", "Alias")
    widths = (3, 2, 2)

    def rows(self) -> Iterable[Sequence[str]]:
        """See Table."""
        for version in versions():
            yield f"``{version.key}``", f"``{version.name}``", f"``{version.alias}``" if version.alias else ""


class Policies(Table):
    """Each rule, with its default and the calls that need it."""

    header = ("Rule", "By default", "For")
    widths = (3, 4, 5)

    def rows(self) -> Iterable[Sequence[str]]:
        """See Table."""
        for rule in list_rules():
            calls = ", ".join(_calls(rule)) if isinstance(rule, DocumentedRuleDefault) else ""
            yield f"``{rule.name}``", f"``{rule.check_str or '@'}``", f"{rule.description} {calls}"


def _calls(rule: DocumentedRuleDefault) -> Iterable[str]:
    """Yield the calls that need a rule, those of one path together."""
    methods: dict[str, list[str]] = {}
    for operation in rule.operations:
        methods.setdefault(operation["path"].removeprefix(BELOW), []).append(operation["method"])
    yield from (f"``{' '.join(those)} {path}``" for path, those in methods.items())


class TemplateLimits(Table):
    """How big things in a template may get."""

    header = ("What", "At most")
    widths = (5, 3)

    def rows(self) -> Iterable[Sequence[str]]:
        """See Table."""
        text = f"{limits.MAX_WEIGHT * limits.CHARACTERS_PER_UNIT:,} characters"
        yield "a template (``max_template_size``), an environment", f"{limits.MAX_TEXT_BYTES:,} bytes"
        yield "levels of nesting, written or produced", f"{limits.MAX_DEPTH}"
        yield "values of a text, once its aliases are expanded", f"{limits.MAX_NODES:,}"
        yield "what one function returns", f"{limits.MAX_WEIGHT:,} values or {text}"
        yield "what all functions return", f"{limits.MAX_TOTAL_WEIGHT // limits.MAX_WEIGHT} times as much"
        yield "a collection in a query (``[yaql] limit_iterators``)", f"{limits.YAQL.iterators} items"
        yield "a value in a query (``[yaql] memory_quota``)", f"{limits.YAQL.memory:,} bytes"
        yield "calls in a query", f"{100 * limits.YAQL.iterators:,}"
        seconds = work.MAX_WORK // 1_000_000
        yield "queries, patterns and replacements, all together", f"some {seconds} seconds, counted in steps"
        yield "patterns in a ``resource_registry``", f"{MAX_PATTERNS}"
        yield "resources (``max_resources_per_stack``)", f"{GROUPS.members:,}"


class Metrics(Table):
    """Each metric, with its type and its labels."""

    header = ("Metric", "Type", "", "Labels")
    widths = (6, 2, 7, 3)

    def rows(self) -> Iterable[Sequence[str]]:
        """See Table."""
        for metric in declared.ALL:
            labels = ", ".join(f"``{label}``" for label in metric.labels)
            yield f"``{metric.name}``", metric.kind, metric.meaning.replace("*", "\\*"), labels


def _spans(having: Sequence[Version]) -> Iterable[str]:
    """Yield in words which versions are among some."""
    hot = [version.name for version in having if version.language == "hot"]
    newest = [version.name for version in versions() if version.language == "hot"][-1]
    if hot:
        span = hot[0] if len(hot) == 1 else f"{hot[0]} to {hot[-1]}"
        yield f"HOT since {hot[0]}" if hot[-1] == newest else f"HOT {span}"
    cloudformation = [version.name for version in having if version.language == "cfn"]
    if cloudformation:
        yield f"CloudFormation {', '.join(cloudformation)}"


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the directives."""
    app.add_directive("metrics", Metrics)
    app.add_directive("rest-routes", RestRoutes)
    app.add_directive("template-functions", TemplateFunctions)
    app.add_directive("template-limits", TemplateLimits)
    app.add_directive("template-versions", TemplateVersions)
    app.add_directive("policies", Policies)
    return {"parallel_read_safe": True}
