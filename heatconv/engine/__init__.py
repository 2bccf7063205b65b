# SPDX-License-Identifier: Apache-2.0
"""What should be: turn requests into traversals, answer reads, recover what was lost.

``requests`` are what users ask for; ``prepare`` makes traversals of it, which ``race`` starts.
On the way, ``posted_sources`` parses, ``freezer`` and ``freezing`` evaluate, ``type_checks`` and
``nesting`` tell what is wrong, ``stack_quotas`` what is too much.  ``lookup`` finds stacks.
``lifecycle`` is what leaves a template alone, ``signals`` what resources are told.
``reads`` answers, and ``recovery`` finds what fell between two processes.
"""
