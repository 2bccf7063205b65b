# SPDX-License-Identifier: Apache-2.0
"""The translation function under the name plugins import it by."""

from __future__ import annotations

import oslo_i18n

_ = oslo_i18n.TranslatorFactory(domain="heatconv").primary
