"""Serves Neutron's API on a loopback port, alone: no Keystone, no message bus, no agents. Runs in Neutron's own venv.

    OS_NEUTRON_CONFIG_DIR=DIR OS_NEUTRON_CONFIG_FILES=neutron.conf python serve.py PORT

Requests take turns: SQLite has one writer. Prints `ready PORT` when it serves.
"""

import io
import sys
import threading
import wsgiref.simple_server
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any


class QuietHandler(wsgiref.simple_server.WSGIRequestHandler):
    """Answers without a line on stderr for each request."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class ThreadingServer(ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    """A thread for each connection; they end with the process."""

    daemon_threads = True
    request_queue_size = 128


def taking_turns(application: Callable[..., Iterable[bytes]]) -> Callable[..., list[bytes]]:
    """One request at a time. Its body is read before its turn, so that a slow client holds up nobody."""
    turn = threading.Lock()

    def serve(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        size = int(environ.get("CONTENT_LENGTH") or 0)
        environ["wsgi.input"] = io.BytesIO(environ["wsgi.input"].read(size) if size else b"")
        with turn:
            return [b"".join(application(environ, start_response))]

    return serve


def main() -> None:
    """Make the tables, then serve for ever."""
    port = int(sys.argv.pop(1))  # Neutron reads what is left of the command line when it is imported.
    from neutron.db.migration.models import head
    from neutron.services.segments.plugin import NovaSegmentNotifier
    from neutron.wsgi.api import application
    from neutron_lib.db import api as database

    # It would tell Nova, which is not there, of every network that goes.
    NovaSegmentNotifier._send_notifications = lambda *_: None
    head.get_metadata().create_all(database.get_writer_session().get_bind())
    server = wsgiref.simple_server.make_server(
        "127.0.0.1", port, taking_turns(application), ThreadingServer, QuietHandler
    )
    print("ready", server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
