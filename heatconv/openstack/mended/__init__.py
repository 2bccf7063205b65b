# SPDX-License-Identifier: Apache-2.0
"""What Heat's plugins do otherwise here: a class to be put in front of theirs, for each of ``mends``."""
