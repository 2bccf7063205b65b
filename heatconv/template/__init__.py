# SPDX-License-Identifier: Apache-2.0
"""The template languages, HOT and CloudFormation's: from texts to frozen definitions, and on to values.

All of it is pure: no plugin, no database, no network.

To be read in this order: ``loader`` reads a text and checks its outer shape, with ``document``,
which reads YAML, and ``versions``, which has what each version of a language has.  ``environment``
makes one environment of what came beside the text, with a ``resource_registry`` and ``guards`` in it.
``freeze`` evaluates everything that does not need a resource, and reports every mistake at once.
``resolve`` evaluates the rest at run time.  ``schema`` describes the interface of a template.

The sections of a template are read by ``parameters``, with ``constraints`` on their values, by
``conditions``, and by ``definitions``, for which ``order`` finds the order of dependencies.
``cloudformation`` renames a template of the other language into HOT.

``evaluator`` evaluates the ``functions`` of a template, and the ``forms``, which are functions that
are more than their arguments; ``unknown`` is one for what is not known yet. ``limits`` bounds how
big values get, and ``problems`` collects mistakes.
"""

from __future__ import annotations

from heatconv.template.environment import inherited, merge
from heatconv.template.freeze import FrozenTemplate, Output, freeze
from heatconv.template.loader import load_template, load_yaml
from heatconv.template.parameters import Parameter, ParameterSchema, check_immutable
from heatconv.template.resolve import resolve
from heatconv.template.schema import Interface, describe, facade_of, interface, plain_properties, types_in
from heatconv.template.versions import functions_of, versions

__all__ = [
    "FrozenTemplate",
    "Interface",
    "Output",
    "Parameter",
    "ParameterSchema",
    "check_immutable",
    "describe",
    "facade_of",
    "freeze",
    "functions_of",
    "inherited",
    "interface",
    "load_template",
    "load_yaml",
    "merge",
    "plain_properties",
    "resolve",
    "types_in",
    "versions",
]
