# SPDX-License-Identifier: Apache-2.0
"""Who calls the hooks of a plugin, or reads what it declares: found in the source of heatconv.

A hook that the contract only defines is one that nobody calls, and a plugin that
relies on it is let down without a word.  So a caller is what counts: a function
outside of all resource types, or one of the contract's own that is called from
outside in the end.  What a type calls of itself does not count.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import heatconv
from heatconv.openstack.stand_ins.resource import Resource

SOURCE = Path(heatconv.__file__).parent
TESTING = "testing"  #: the package of doubles: what they call, nothing real may call

#: What our functions call a plugin, or the class of one.
PLUGINS = frozenset(
    {"class_", "facade", "found", "plugin", "provider", "reader", "resource", "resource_class", "type_"}
)
#: What methods call their own object, or its class.
_OWN = ("cls", "self")


@dataclass(frozen=True)
class Caller:
    """A function, or the body of a module or class."""

    module: str
    class_: str = ""
    function: str = ""

    def __str__(self) -> str:
        return ".".join(part for part in (self.module, self.class_, self.function) if part)


class Calls:
    """The calls of plugins that there are in a directory of sources."""

    def __init__(self, callers: Mapping[str, set[Caller]], contract: set[str]) -> None:
        self._callers = callers
        self._contract = contract

    @classmethod
    def read(cls, source: Path = SOURCE) -> Calls:
        """Return the calls in all modules that are not for tests alone."""
        paths = [path for path in sorted(source.rglob("*.py")) if source / TESTING not in path.parents]
        trees = {_module(path, source): ast.parse(path.read_text()) for path in paths}
        contract = {class_.__name__ for class_ in Resource.__mro__[:-1]}
        types = _derived(trees, contract) - contract
        callers: defaultdict[str, set[Caller]] = defaultdict(set)
        for module, tree in trees.items():
            for name, caller in _uses(tree, Caller(module), contract):
                if caller.class_ not in types:
                    callers[name].add(caller)
        return cls(callers, contract)

    def of(self, hook: str) -> list[str]:
        """Return who calls a hook, or reads it, as far as anybody outside the contract is behind it."""
        return sorted(str(caller) for caller in self._callers.get(hook, ()) if self._counts(caller, {hook}))

    def _counts(self, caller: Caller, seen: set[str]) -> bool:
        if caller.class_ not in self._contract:
            return True
        if caller.function in seen:
            return False
        further = self._callers.get(caller.function, ())
        return any(self._counts(each, seen | {caller.function}) for each in further)


def _module(path: Path, source: Path) -> str:
    parts = path.relative_to(source.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def _derived(trees: Mapping[str, ast.AST], bases: set[str]) -> set[str]:
    """Return the names of the classes that derive from some, these included."""
    classes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    known, before = set(bases), 0
    while len(known) > before:
        before = len(known)
        known |= {each.name for each in classes if known & {_last(base) for base in each.bases}}
    return known


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _uses(node: ast.AST, caller: Caller, contract: set[str]) -> Iterator[tuple[str, Caller]]:
    """Yield what is asked of plugins below a node, and by whom."""
    for child in ast.iter_child_nodes(node):
        within = caller
        if isinstance(child, ast.ClassDef):
            within = replace(caller, class_=child.name)
        elif isinstance(child, ast.FunctionDef) and not caller.function:
            within = replace(caller, function=child.name)
        for receiver, name in _asked(child):
            if receiver in PLUGINS or (receiver in _OWN and caller.class_ in contract):
                yield name, caller
        yield from _uses(child, within, contract)


def _asked(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield of whom an attribute is read here, and which: with ``getattr``, any that its text may be."""
    match node:
        case ast.Attribute(value=ast.Name(id=receiver), attr=name, ctx=ast.Load()):
            yield receiver, name
        case ast.Attribute(value=ast.Attribute(attr="plugin"), attr=name, ctx=ast.Load()):  # a driver's
            yield "plugin", name
        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id=receiver), name, *_]):
            for spelled in _texts(name):
                yield receiver, spelled


def _texts(node: ast.expr) -> Iterator[str]:
    """Yield what a text may be: one that is put together has the name of an action in it."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            for action in Resource.ACTIONS:
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else action.lower() for part in parts
                )
