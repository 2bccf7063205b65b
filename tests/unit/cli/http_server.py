# SPDX-License-Identifier: Apache-2.0
"""A WSGI application, served over HTTP for as long as a test takes."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    def log_message(self, *_arguments):
        pass


@contextmanager
def serving(app):
    """Serve a WSGI application; yield the endpoint of its project ``default``."""
    with make_server("127.0.0.1", 0, app, server_class=_Server, handler_class=_Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1/default"
        server.shutdown()
        thread.join()
