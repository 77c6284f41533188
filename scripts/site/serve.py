"""Serves a folder of static pages on loopback. It needs nothing but Python: the wheel `sampan-docs` contains it."""

import argparse
import functools
import sys
from collections.abc import Sequence
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_ADDRESS = "127.0.0.1"
_PORT = 8000


class _Pages(SimpleHTTPRequestHandler):
    """Files of one folder. It logs nothing."""

    extensions_map = {
        **SimpleHTTPRequestHandler.extensions_map,
        ".md": "text/markdown; charset=utf-8",
        ".txt": "text/plain; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
    }

    def log_message(self, format: str, *args: object) -> None:
        """Drop the line of a request."""


class _Server(ThreadingHTTPServer):
    """Server whose log has no errors of connections: a browser may close them at any time."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error of this program, but not of a connection."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def server(folder: Path, port: int = _PORT) -> ThreadingHTTPServer:
    """Return a server of a folder, bound to loopback. Port 0 is a free one."""
    return _Server((_ADDRESS, port), functools.partial(_Pages, directory=str(folder)))


def serve(folder: Path, port: int) -> int:
    """Serve a folder until an interrupt. Return the exit code."""
    try:
        bound = server(folder, port)
    except OSError as error:
        print(f"cannot serve on {_ADDRESS}:{port}: {error.strerror}; choose another --port", file=sys.stderr)
        return 1
    with bound:
        print(f"serving http://{_ADDRESS}:{bound.server_port}/ (end it with Ctrl-C)", flush=True)
        try:
            bound.serve_forever()
        except KeyboardInterrupt:
            pass
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the pages next to this file, as the wheel has them. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m sampan_docs", description="Serve Sampan's documentation offline.")
    parser.add_argument("--port", type=int, default=_PORT, help="port on 127.0.0.1; 0: a free one (default: 8000)")
    return serve(Path(__file__).parent / "site", parser.parse_args(arguments).port)
