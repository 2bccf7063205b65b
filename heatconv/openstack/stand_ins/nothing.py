# SPDX-License-Identifier: Apache-2.0
"""For modules of Heat's that are imported by what plugins need, and of which plugins need nothing."""
