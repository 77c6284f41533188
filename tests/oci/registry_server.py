"""`RegistryServer`: a registry on loopback with uploads, mounts and tokens, which notes its requests.

It follows the distribution specification and nothing else, so that a client's mistakes are errors here.
"""

import base64
import contextlib
import hashlib
import itertools
import json
import re
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

USER, PASSWORD = "harbour", "secret"
_MANIFEST = re.compile(r"/v2/(?P<name>[a-z0-9/._-]+)/manifests/(?P<target>[\w.:-]+)")
_BLOB = re.compile(r"/v2/(?P<name>[a-z0-9/._-]+)/blobs/(?P<digest>sha256:[0-9a-f]{64})")
_START = re.compile(r"/v2/(?P<name>[a-z0-9/._-]+)/blobs/uploads/")
_UPLOAD = re.compile(r"/v2/(?P<name>[a-z0-9/._-]+)/blobs/uploads/(?P<id>\d+)")


class RegistryServer:
    """State of the registry. `authentication`: `none`, `basic` or `token`."""

    def __init__(self, authentication: str = "none") -> None:
        self.authentication = authentication
        self.blobs: dict[tuple[str, str], bytes] = {}
        self.manifests: dict[tuple[str, str], tuple[str, bytes]] = {}
        self.uploads: dict[int, bytearray] = {}
        self.upload_ids = itertools.count()
        self.requests: list[str] = []
        self.failures: list[int] = []
        """Statuses of the next responses, which are errors."""
        self.refusals: dict[str, tuple[int, bytes]] = {}
        """Responses by method."""
        self.redirect_blobs_to = ""
        self.upload_to = ""
        self.redirected_headers: list[dict[str, str]] = []
        self.port = 0

    @property
    def host(self) -> str:
        """Host and port for references."""
        return f"127.0.0.1:{self.port}"

    def add_blob(self, name: str, content: bytes) -> str:
        """Add a blob to a repository, and return its digest."""
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self.blobs[name, digest] = content
        return digest


@contextlib.contextmanager
def serving(registry: RegistryServer) -> Iterator[RegistryServer]:
    """Serve the registry in a thread."""

    class Handler(_Handler):
        state = registry

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    registry.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: RegistryServer

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/token":
            self._token()
        elif path.startswith("/elsewhere/"):
            self.state.redirected_headers.append({key.lower(): value for key, value in self.headers.items()})
            self._send(200, self.state.blobs["elsewhere", path.removeprefix("/elsewhere/")])
        elif self._begin():
            self._read(path)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/token":
            self._token()
            return
        found = _START.fullmatch(parts.path)
        if not self._begin() or found is None:
            return
        requested = parse_qs(parts.query)
        if requested.get("mount"):
            content = self.state.blobs.get((requested["from"][0], requested["mount"][0]))
            if content is not None:
                self.state.add_blob(found["name"], content)
                self._send(201)
                return
        upload = next(self.state.upload_ids)
        self.state.uploads[upload] = bytearray()
        place = f"{self.state.upload_to}/v2/{found['name']}/blobs/uploads/{upload}?state=0"
        self._send(202, headers={"Location": place})

    def do_PATCH(self) -> None:
        body = self._body()
        self.state.redirected_headers.append({key.lower(): value for key, value in self.headers.items()})
        found = _UPLOAD.fullmatch(urlsplit(self.path).path)
        if not self._begin() or found is None:
            return
        upload = self.state.uploads[int(found["id"])]
        if self.headers["Content-Range"] != f"{len(upload)}-{len(upload) + len(body) - 1}":
            self._send(416)
            return
        upload.extend(body)
        self._send(202, headers={"Location": f"/v2/{found['name']}/blobs/uploads/{found['id']}?state={len(upload)}"})

    def do_PUT(self) -> None:
        body = self._body()
        parts = urlsplit(self.path)
        if not self._begin():
            return
        if found := _UPLOAD.fullmatch(parts.path):
            content = bytes(self.state.uploads.pop(int(found["id"]))) + body
            digest = self.state.add_blob(found["name"], content)
            self._send(201 if parse_qs(parts.query)["digest"] == [digest] else 400)
        elif found := _MANIFEST.fullmatch(parts.path):
            self._put_manifest(found["name"], found["target"], body)

    def _put_manifest(self, name: str, target: str, body: bytes) -> None:
        digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
        parts = json.loads(body)
        blobs = [each["digest"] for each in parts.get("layers", [])]
        blobs += [parts["config"]["digest"]] if "config" in parts else []
        below = [each["digest"] for each in parts.get("manifests", [])]
        missing = [each for each in blobs if (name, each) not in self.state.blobs]
        missing += [each for each in below if (name, each) not in self.state.manifests]
        if missing or (target.startswith("sha256:") and target != digest):
            self._error(400, f"missing: {missing}")
            return
        self.state.manifests[name, digest] = self.state.manifests[name, target] = (self.headers["Content-Type"], body)
        self._send(201)

    def _read(self, path: str) -> None:
        if found := _MANIFEST.fullmatch(path):
            manifest = self.state.manifests.get((found["name"], found["target"]))
            if manifest is None:
                self._error(404, "manifest unknown")
                return
            self._send(200, manifest[1], {"Content-Type": manifest[0]})
            return
        found = _BLOB.fullmatch(path)
        content = self.state.blobs.get((found["name"], found["digest"])) if found else None
        if content is None:
            self._send(404)
        elif self.state.redirect_blobs_to and self.command == "GET" and found:
            self._send(307, headers={"Location": f"{self.state.redirect_blobs_to}/elsewhere/{found['digest']}"})
        else:
            self._send(200, content)

    def _begin(self) -> bool:
        """Note the request. Return False if a response without access was sent."""
        self.state.requests.append(f"{self.command} {self.path.partition('?')[0]}")
        if self.state.failures:
            self._send(self.state.failures.pop(0))
            return False
        if refusal := self.state.refusals.get(self.command):
            self._send(*refusal)
            return False
        given = self.headers.get("Authorization", "")
        if self.state.authentication == "basic" and given != _basic():
            self._send(401, headers={"WWW-Authenticate": 'Basic realm="registry"'})
            return False
        if self.state.authentication == "token" and not given.startswith("Bearer token-for-"):
            realm = f"http://{self.state.host}/token"
            self._send(401, headers={"WWW-Authenticate": f'Bearer realm="{realm}",service="registry, of tests"'})
            return False
        return True

    def _token(self) -> None:
        body = parse_qs(self._body().decode())
        requested = parse_qs(urlsplit(self.path).query) or body
        is_known = self.headers.get("Authorization") == _basic() or body.get("refresh_token") == ["identity"]
        if not is_known or requested["service"] != ["registry, of tests"]:
            self._send(401)
            return
        scope = requested["scope"][0].replace(" ", "+")
        self._send(200, json.dumps({"token": f"token-for-{scope}"}).encode())

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _error(self, status: int, message: str) -> None:
        self._send(status, json.dumps({"errors": [{"code": "X", "message": message}]}).encode())

    def _send(self, status: int, content: bytes = b"", headers: Mapping[str, str] = {}) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def _basic() -> str:
    return "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
