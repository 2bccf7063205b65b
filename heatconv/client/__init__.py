# SPDX-License-Identifier: Apache-2.0
"""The HTTP client: the API's operations as methods, and what a user's files make of a request.

``http`` speaks to the service; ``source`` reads a template and all it refers to.
"""
