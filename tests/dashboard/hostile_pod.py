"""`HostilePod`: a server of a Pod whose page attacks the dashboard that opened it.

Concurrency: the server has its threads; a test reads `requested` after the page has the responses.
"""

import base64
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

PAGE: Final = b"""<!doctype html><title>Hostile</title><h1>Page of a Pod</h1>
<p id="relative">not loaded</p>
<script src="code/script.js"></script>
<script type="module" src="code/module.js"></script>
<a href="second">Second page</a>
<form method="post" action="form"><input name="a" value="b"><button>Send to the Pod</button></form>
"""
SCRIPT: Final = b"""
document.getElementById("relative").textContent = "script of the Pod";
window.attempt = async (work) => {
  try { return String(await work()); } catch (error) { return `refused: ${error.name}`; }
};
"""
MODULE: Final = b"document.body.dataset.module = 'loaded';"
BASE: Final = b'<!doctype html><title>Base</title><base href="/api/v1/"><h1>Base</h1><script src="namespaces"></script>'
ALLOWED: Final = "allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-top-navigation"
HEADERS: Final = {
    "Set-Cookie": "hostile=1; Path=/",
    "Referrer-Policy": "unsafe-url",
    "Content-Security-Policy": f"sandbox allow-same-origin {ALLOWED}",
    "Service-Worker-Allowed": "/",
    "Cross-Origin-Resource-Policy": "same-origin",
}
FILES: Final[dict[str, tuple[str, bytes]]] = {
    "/": ("text/html", PAGE),
    "/second": ("text/html", b"<!doctype html><title>Second</title><h1>Second page</h1><a href='./'>First page</a>"),
    "/form": ("text/html", b"<!doctype html><title>Form</title><h1>Received</h1>"),
    "/base": ("text/html", BASE),
    "/code/script.js": ("text/javascript", SCRIPT),
    "/code/module.js": ("text/javascript", MODULE),
    "/worker.js": ("text/javascript", b""),
    "/data": ("application/json", b'{"of":"the Pod"}'),
}


@dataclass
class HostilePod:
    """A running server. `requested` has method, target and headers of its requests."""

    port: int
    requested: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    def headers(self, path: str) -> dict[str, str]:
        """Return the headers of the last request for a path."""
        return next(headers for _, target, headers in reversed(self.requested) if urlsplit(target).path == path)


@contextmanager
def hostile_pod() -> Iterator[HostilePod]:
    """Serve on a free port of the loopback address in the block."""
    pod = HostilePod(0)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            pod.requested.append((self.command, self.path, {name.lower(): each for name, each in self.headers.items()}))
            path = urlsplit(self.path).path
            if path == "/socket":
                self._socket()
                return
            if path == "/redirect":
                self.send_response(302)
                self.send_header("Location", self.path.partition("?")[2])
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            kind, content = FILES.get(path, ("text/plain", body))
            self.send_response(200 if path in FILES or body else 404)
            for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def _socket(self) -> None:
            """Accept a WebSocket, send one text, and close it."""
            key = self.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
            self.end_headers()
            self.wfile.write(b"\x81\x05hello\x88\x02\x03\xe8")
            self.close_connection = True

        do_POST = do_PUT = do_GET

        def log_message(self, *values: Any) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        pod.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, name="hostile Pod")
        thread.start()
        try:
            yield pod
        finally:
            server.shutdown()
            thread.join()
