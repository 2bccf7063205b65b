# SPDX-License-Identifier: Apache-2.0
"""Templates, frozen in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from heatconv.errors import Invalid
from heatconv.template import FrozenTemplate, freeze, load_template, merge

PSEUDO = {
    "OS::stack_name": "teststack",
    "OS::stack_id": "1234",
    "OS::project_id": "p1",
    "AWS::StackName": "teststack",
    "AWS::StackId": "arn:aws",
    "AWS::Region": "region",
}

Freezer = Callable[..., FrozenTemplate]


@pytest.fixture
def frozen() -> Freezer:
    """Freeze a template: ``frozen(text_or_dict, parameters, files=..., environment=..., ...)``."""

    def freezer(
        template: str | dict[str, Any],
        parameters: dict[str, Any] | None = None,
        *,
        files: dict[str, str] | None = None,
        environment: dict[str, Any] | None = None,
        **options: Any,
    ) -> FrozenTemplate:
        loaded = load_template(template)
        merged = merge(environment, [], {}, parameters or {})
        return freeze(loaded, merged, files or {}, PSEUDO, **options)

    return freezer


@pytest.fixture
def value_of(frozen: Freezer) -> Callable[..., Any]:
    """Evaluate one value as an output of a template that has resources ``a`` and ``b``."""

    def evaluate(value: Any, *, version: str = "wallaby", **sections: Any) -> Any:
        options = {key: sections.pop(key) for key in ("files", "facade") if key in sections}
        template = {
            "heat_template_version": version,
            "resources": {"a": {"type": "T"}, "b": {"type": "T"}},
            "outputs": {"o": {"value": value}},
        }
        return frozen(template | sections, **options).outputs["o"].value

    return evaluate


@pytest.fixture
def problems_of(frozen: Freezer) -> Callable[..., dict[str, str]]:
    """Freeze a template that has mistakes, and return them by path."""

    def problems(*args: Any, **options: Any) -> dict[str, str]:
        with pytest.raises(Invalid) as caught:
            frozen(*args, **options)
        return dict(caught.value.problems)

    return problems


@pytest.fixture
def problem_of(value_of: Callable[..., Any]) -> Callable[..., tuple[str, str]]:
    """Evaluate a value that has one mistake, and return where it is and what it is."""

    def problem(value: Any, **options: Any) -> tuple[str, str]:
        with pytest.raises(Invalid) as caught:
            value_of(value, **options)
        ((path, sentence),) = caught.value.problems
        return path.removeprefix("outputs.o.value."), sentence

    return problem
