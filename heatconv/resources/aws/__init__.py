# SPDX-License-Identifier: Apache-2.0
"""The types named AWS::, one module per type."""
