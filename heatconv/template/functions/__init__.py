# SPDX-License-Identifier: Apache-2.0
"""The functions of the template language, one module per family.

The same implementation serves while freezing and at run time.
"""

from __future__ import annotations
