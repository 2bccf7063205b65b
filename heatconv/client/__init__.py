# SPDX-License-Identifier: Apache-2.0
"""The HTTP client: the API's operations as methods, and what a user's files make of a request.

``http`` has a method for each operation, over ``transport``; ``login`` finds out
where the service is and who asks; ``source`` reads a template and all it refers to.
"""
