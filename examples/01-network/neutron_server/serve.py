"""Serve Neutron's API on a loopback port without Keystone, message bus and agents. Runs in Neutron's environment.

    OS_NEUTRON_CONFIG_DIR=DIR OS_NEUTRON_CONFIG_FILES=neutron.conf python serve.py PORT

It serves one request at a time, because SQLite has one writer. It prints `ready PORT` when it serves.
"""

import io
import sys
import threading
import wsgiref.simple_server
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any


class QuietHandler(wsgiref.simple_server.WSGIRequestHandler):
    """Request handler that logs nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


class ThreadingServer(ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    """Server with a thread for each connection. The threads end with the process."""

    daemon_threads = True
    request_queue_size = 128


def one_at_a_time(application: Callable[..., Iterable[bytes]]) -> Callable[..., list[bytes]]:
    """Serve one request at a time. The body is read first, so a slow client does not block others."""
    turn = threading.Lock()

    def serve(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        size = int(environ.get("CONTENT_LENGTH") or 0)
        environ["wsgi.input"] = io.BytesIO(environ["wsgi.input"].read(size) if size else b"")
        with turn:
            return [b"".join(application(environ, start_response))]

    return serve


def main() -> None:
    """Create the tables, then serve forever."""
    port = int(sys.argv.pop(1))  # Neutron parses the rest of the command line on import.
    from neutron.db.migration.models import head
    from neutron.services.segments.plugin import NovaSegmentNotifier
    from neutron.wsgi.api import application
    from neutron_lib.db import api as database

    # It would notify Nova, which does not run, of each deleted network.
    NovaSegmentNotifier._send_notifications = lambda *_: None
    head.get_metadata().create_all(database.get_writer_session().get_bind())
    server = wsgiref.simple_server.make_server(
        "127.0.0.1", port, one_at_a_time(application), ThreadingServer, QuietHandler
    )
    print("ready", server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
