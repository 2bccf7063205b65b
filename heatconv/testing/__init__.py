# SPDX-License-Identifier: Apache-2.0
"""A world to test in: a fake cloud, scenarios as prose, a deterministic scheduler.

Shipped with heatconv, so that authors of plugins can put theirs through the
same interruptions.  The fake cloud knows nothing of heatconv's database: what
it holds is reality, and reality alone decides whether a scenario came out
right.
"""
