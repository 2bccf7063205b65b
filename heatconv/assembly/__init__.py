# SPDX-License-Identifier: Apache-2.0
"""Where the parts of a daemon are put together: ``engine``."""
