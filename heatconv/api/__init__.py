# SPDX-License-Identifier: Apache-2.0
"""The REST API: authenticates, shapes JSON, asks an engine.

``routes`` says which function answers which request, ``handlers`` holds those
functions, ``views`` gives answers Heat's keys, ``faults`` turns errors into
HTTP, ``deploy`` puts it all together.  No table is touched here, and no
template is read.
"""
