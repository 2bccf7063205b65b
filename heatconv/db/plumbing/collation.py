# SPDX-License-Identifier: Apache-2.0
"""How texts compare: as bytes, on every database.

By what servers do unless they are told otherwise, ``web``, ``WEB``, ``wéb`` and ``web``
with a space behind it may be one text, and a list is in another order on every server.
SQLite compares bytes of its own accord.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateTable

POSTGRESQL = "C"
#: ``utf8mb4_bin`` would not do: it takes no account of spaces at the end.
MARIADB, MYSQL = "utf8mb4_nopad_bin", "utf8mb4_0900_bin"


def of_mysql(dialect: Dialect) -> str:
    """Return the collation by which texts compare as bytes on a server of the MySQL family."""
    return MARIADB if getattr(dialect, "is_mariadb", False) else MYSQL


@compiles(CreateTable, "mysql")
def _create_table(element: CreateTable, compiler: Any, **kwargs: Any) -> str:
    # Whoever makes the table, a migration or the models: a column that is added later has
    # the collation of its table unless it says otherwise, and nobody has to think of it.
    statement = compiler.visit_create_table(element, **kwargs)
    return f"{statement.rstrip()} COLLATE={of_mysql(compiler.dialect)}\n\n"
