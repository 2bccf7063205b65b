# SPDX-License-Identifier: Apache-2.0
"""What runs in servers: ``configs``, what; ``deployments``, where; ``project``, both as plugins see them."""
