# SPDX-License-Identifier: Apache-2.0
"""The functions of the template language, one module per family.

The same implementation serves while freezing and at run time.

Begin with ``arguments``, which has what every function needs.  ``yaql_engine`` and ``yaql_query``
run the queries of the yaql function, with bounded work.
"""

from __future__ import annotations
