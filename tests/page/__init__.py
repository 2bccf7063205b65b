# SPDX-License-Identifier: Apache-2.0
"""The live page in a real browser, on a real heatconv: stories in the words of those who use it.

``./tools/test -e page`` runs them, with Debian's chromium and chromium-driver.  ``HEATCONV_SCREENSHOTS``
names a directory for what each of them has seen.
"""
