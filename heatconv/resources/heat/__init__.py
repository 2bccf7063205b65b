# SPDX-License-Identifier: Apache-2.0
"""The built-in types OS::Heat::*, which need no cloud."""
