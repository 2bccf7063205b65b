# SPDX-License-Identifier: Apache-2.0
"""Which resource types somebody may use: policies refuse some, by name or by how the name begins."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from heatconv import errors


def is_refused(type_name: str, refused: Iterable[str]) -> bool:
    """Tell whether a type is among those refused, of which one that ends in ``*`` is all that begin so."""
    return any(
        type_name.startswith(each[:-1]) if each.endswith("*") else type_name == each for each in refused
    )


def check_types(type_names: Iterable[str], refused: Collection[str]) -> None:
    """Let types pass that nobody refused.

    Raises:
        Forbidden: one is refused.
    """
    for name in type_names if refused else ():
        if is_refused(name, refused):
            raise errors.Forbidden(
                f"You are not authorized to use {name}: policy resource_types does not allow it."
            )
