# SPDX-License-Identifier: Apache-2.0
"""What runs in servers.

``configs``, what is to be run; ``deployments``, on which server; ``project``, both as plugins see
them.
"""
