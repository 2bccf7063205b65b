# SPDX-License-Identifier: Apache-2.0
"""Modules that stand in for Heat's where a cloud's plugins need more than the contract of ``resources``."""
