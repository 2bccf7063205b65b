# SPDX-License-Identifier: Apache-2.0
"""Where the parts are put together: ``engine`` and ``worker``.

Each is on the bus by its ``*_service``, the engine with its ``endpoints``.
"""
