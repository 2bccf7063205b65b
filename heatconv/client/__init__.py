# SPDX-License-Identifier: Apache-2.0
"""The HTTP client: the API's operations as methods, and what a user's files make of a request.

Begin with ``http``, which has a method for each operation.  ``transport`` sends the requests of
these methods, ``long_json`` reads an answer that is too long to be kept, ``login`` finds out where
the service is and who asks, and ``source`` reads a template and all that the template refers to.
"""
