# SPDX-License-Identifier: Apache-2.0
"""The REST API: authenticates, shapes JSON, asks an engine.

No table is touched here, and no template is read.

Begin with ``routes``, which says which function answers which request.  ``handlers`` has these
functions, ``call`` has what each function is given and gives back, and ``views`` puts the answers
of engines under Heat's keys.

``deploy`` puts the application together.  On its way to the handler a request passes these modules
in this order: ``middleware``; ``hosts``, which knows the names of the API; ``auth``, which finds
out who asks (``tokens`` and ``passwords`` are two ways); ``policy``, which finds out by the rules
in ``policies`` whether the caller may; ``identities``, which proves that a stack's name and id
belong together; ``contract``, which reads the request by ``query`` and ``body`` as the ``schemas``
declare.  An answer that the client has already is left out by ``unchanged``, or waits for a change
of its stack by ``watch``; those who waited for the same are given one answer by ``sharing``.

``page`` serves the live page, whose files are in the directory ui and ask the API as any client does;
``login`` gets a token of Keystone for it.
``faults`` turns errors into HTTP.  ``openapi`` describes the API for programs.
"""
