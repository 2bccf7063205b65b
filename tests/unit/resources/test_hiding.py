# SPDX-License-Identifier: Apache-2.0
"""A template that is made of values says none of the secrets in them, and means the same."""

from __future__ import annotations

import pytest

from heatconv import template
from heatconv.resources.hiding import Hiding

VALUES = {
    "alone": "sesame",
    "inside": ["user:sesame@host", {"twice": "sesamesesame", "longer": "open sesame!"}],
    "other": ["plain", 7, None, True],
}


def meant(value, hiding):
    """Return what a template that has a value in a resource's properties comes to."""
    document = {
        "heat_template_version": "2015-04-30",
        "parameters": hiding.schemas(),
        "resources": {"R": {"type": "T", "properties": hiding.without(value)}},
    }
    environment = template.merge(None, [], {}, hiding.values(), template=document)
    frozen = template.freeze(document, environment, {}, {})
    return frozen.definitions["R"]


@pytest.mark.parametrize("secrets", [(), ("sesame",), ("sesame", "open sesame"), ("a", "sesame", "")])
def test_a_value_without_its_secrets_means_the_same(secrets):
    definition = meant(VALUES, Hiding(secrets))

    assert definition.properties == VALUES


def test_the_secrets_are_in_the_parameters_alone_and_known_as_such():
    hiding = Hiding(("sesame", "open sesame"))

    assert "sesame" not in str(hiding.without(VALUES)) + str(hiding.schemas())
    assert {"sesame", "open sesame"} <= set(meant(VALUES, hiding).secrets)
