# SPDX-License-Identifier: Apache-2.0
"""Whoever opens a package reads in its docstring what is in it, and finds each name that stands there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2] / "heatconv"
PACKAGES = {str(file.parent.relative_to(TOP)): file.parent for file in sorted(TOP.rglob("__init__.py"))}

#: Packages with one module per something, and what a module of that kind has in its text.  Such a module
#: need not be named; any other one, and every sub-package, is named all the same.
ONE_PER = {
    "api/handlers": ("noun", r"\) -> Answer:$"),
    "api/policies": ("noun", r'^"""Who may '),
    "api/schemas": ("noun", r"^_?[A-Z_]+: (Keys|Schema) = "),
    "cli": ("noun", r"^class \w+\((Command|Lister|ShowOne)\)"),
    "cmd": ("daemon", r'^"""heatconv-'),
    "cmd/compose": ("service", r'^"""The (API|engine|worker)\."""$'),
    "conf": ("option group", r"^GROUP\b"),
    "db/tables": ("package", r"^\w+ = (\w+\.)?[tT]able\("),
    "openstack/mended": ("mistake", r"^(class|def) "),
    "openstack/plugins": ("type", r'^"""OS::'),
    "openstack/stand_ins": ("module", r'^"""``heat\.'),
    "resources/aws": ("type", r'^"""AWS::'),
    "resources/heat": ("type", r'^"""OS::Heat::'),
    "template/functions": ("family", r'^@function\("'),
}

CODE = re.compile(r"``([a-z_]\w*(?:\.\w+)*)``")


def words(package: Path) -> str:
    """Return the docstring of a package."""
    return ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""


def rooms(package: Path) -> set[str]:
    """Return the names of the modules and the sub-packages; a folder of modules counts as one."""
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    return modules | {path.parent.name for path in package.glob("*/*.py")}


def of_the_kind(package: Path, has: str) -> set[str]:
    """Return the names of the modules that have a text in them, a regular expression."""
    return {path.stem for path in package.glob("*.py") if re.search(has, path.read_text(), re.MULTILINE)}


def is_there(package: Path, name: str) -> bool:
    """Tell whether a name is that of a room, of what a module defines, or of a group of entry points."""
    if name.startswith("heatconv."):
        return is_there(TOP, name.removeprefix("heatconv.")) or has_text(package, name)
    first, _, rest = name.partition(".")
    if first not in rooms(package):
        return False
    return not rest or is_there(package / first, rest) or defines(package / f"{first}.py", rest)


def has_text(package: Path, text: str) -> bool:
    tree = ast.parse((package / "__init__.py").read_text())
    return any(isinstance(node, ast.Constant) and node.value == text for node in ast.walk(tree))


def defines(module: Path, name: str) -> bool:
    if not module.is_file():
        return False
    defined: set[str] = set()
    for node in ast.parse(module.read_text()).body:
        match node:
            case ast.ClassDef() | ast.FunctionDef():
                defined.add(node.name)
            case ast.Assign():
                defined |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name_of_it)):
                defined.add(name_of_it)
    return name in defined


def test_the_packages_are_found():
    assert {".", "api/handlers", "db/convergence", "worker"} <= set(PACKAGES)
    assert set(PACKAGES) >= set(ONE_PER)


@pytest.mark.parametrize("package", PACKAGES)
def test_each_module_and_each_package_is_named(package):
    expected = rooms(PACKAGES[package])
    if package in ONE_PER:
        expected -= of_the_kind(PACKAGES[package], ONE_PER[package][1])
    assert expected - set(CODE.findall(words(PACKAGES[package]))) == set()


@pytest.mark.parametrize("package", ONE_PER)
def test_a_package_with_one_module_per_something_says_so_and_has_some(package):
    something, has = ONE_PER[package]
    assert f"one module per {something}" in " ".join(words(PACKAGES[package]).split()).lower()
    assert of_the_kind(PACKAGES[package], has)


@pytest.mark.parametrize("package", PACKAGES)
def test_each_name_is_there(package):
    """A plain name is a room of the package; other code is written otherwise: ``main()``, ``Sealed``."""
    named = CODE.findall(words(PACKAGES[package]))
    assert [name for name in named if not is_there(PACKAGES[package], name)] == []
