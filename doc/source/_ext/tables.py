# SPDX-License-Identifier: Apache-2.0
"""Reference tables that are made from the code, so that they cannot be out of date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from heatconv.api.handlers import stacks
from heatconv.api.routes import ROUTES
from heatconv.template.versions import functions_of, versions

REDIRECTS = (stacks.lookup, stacks.lookup_arn)


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
        names = [name for name, _aliases in versions()]
        summaries: dict[str, str] = {}
        having: dict[str, list[str]] = {}
        for version in names:
            for function, summary in functions_of(version, with_conditions=True):
                summaries[function] = summary
                having.setdefault(function, []).append(version)
        for function in sorted(summaries):
            first, last = having[function][0], having[function][-1]
            span = f"since {first}" if last == names[-1] else f"{first} to {last}"
            yield f"``{function}``", summaries[function], span


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the directives."""
    app.add_directive("rest-routes", RestRoutes)
    app.add_directive("template-functions", TemplateFunctions)
    return {"parallel_read_safe": True}
