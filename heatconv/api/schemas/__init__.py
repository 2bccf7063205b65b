# SPDX-License-Identifier: Apache-2.0
"""JSON Schemas of request bodies, and the keys of query strings: one module per noun.

Keys that a schema does not name are ignored, as Heat does.  Each description completes the sentence
"it has to be ...".  Of answers, the one that programs judge has a schema: ``plan_document``.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
