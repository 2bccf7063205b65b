# SPDX-License-Identifier: Apache-2.0
"""The vocabulary: frozen records, enumerations and node keys.

Pure values, no I/O.  Rows never leave ``heatconv.db``; what leaves it are the
records defined here.
"""
