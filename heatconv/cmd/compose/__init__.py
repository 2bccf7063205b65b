# SPDX-License-Identifier: Apache-2.0
"""How the parts of each service are put together from a daemon and its configuration.

One module per service: no daemon loads what only another one needs.  Five modules are no service:
``common`` has what the services have in common, ``cloud`` adds the cloud that daemons make
resources in, ``front`` is the HTTP server of the API, ``loop`` what it waits for connections by, and
``holds`` has the requests there that wait.
"""
