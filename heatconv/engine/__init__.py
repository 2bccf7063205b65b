# SPDX-License-Identifier: Apache-2.0
"""What should be: turn requests into traversals, answer reads, recover what was lost.

``requests`` are what users ask for, ``prepare`` makes traversals of it,
``reads`` answers, and ``recovery`` finds what fell between two processes.
"""
