"""`Shell`: the built page, for tests: files, and the session of a user that the test chooses.

It stands in for the session of the server: everything else is the API server of `sampan.testing`.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sampan.server.dashboard.origin import may_have_session
from sampan.server.dashboard.stream.multiplex import MESSAGE_BYTES_MAX, Multiplex
from sampan.server.request import Handler, Request, Response, UserInfo
from sampan.server.websocket import accept
from sampan.testing.servers.logical_server import Users

PREFIX: Final = "/dashboard/"
STREAM: Final = "/dashboard/stream"
CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types sampan-worker"
)
ALL_LOGINS: Final = ["token", "link", "oidc", "certificate"]


@dataclass
class Shell:
    """Filter before the API server."""

    folder: Path
    users: Users
    user: UserInfo | None
    """User of the session; None: logged out."""
    logins: list[str] = field(default_factory=lambda: list(ALL_LOGINS))
    tokens: dict[str, UserInfo] = field(default_factory=dict)
    """Users by the tokens and one-time links that log in."""
    replaced: dict[str, Any] = field(default_factory=dict)
    """Responses instead of those of the server, by path: an object, a `Response`, or a function of the request, which
    returns None for the response of the server."""
    features: list[str] = field(default_factory=list)
    """Features of the server that the page may use."""
    requests: list[tuple[str, str, int]] = field(default_factory=list)
    """Method, target and status of the requests of the page to the API."""

    _cuts: list[asyncio.Event] = field(default_factory=list)
    _lost: bool = False
    _loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def disconnected(self) -> Iterator[None]:
        """Close the connections of all requests, and those of new requests until the end of the context."""
        self._lost = True
        assert self._loop is not None
        try:
            for cut in self._cuts:
                self._loop.call_soon_threadsafe(cut.set)
            yield
        finally:
            self._lost = False

    def refuse(self, path: str, code: int, status: Any) -> None:
        """Respond to a path with an error."""
        self.replaced[path] = Response(code, json.dumps(status).encode())

    def around(self, inner: Handler) -> Handler:
        """Return the handler that serves the page, and gives requests of the page the token of the user."""

        async def handler(request: Request) -> Response:
            path = request.wire.path
            self._loop = asyncio.get_running_loop()
            if self._lost:
                return Response(lost=True)
            if path in self.replaced:
                replacement = self.replaced[path]
                replacement = replacement(request) if callable(replacement) else replacement
                if replacement is not None:
                    return replacement if isinstance(replacement, Response) else _json(replacement)
            if path == STREAM:
                multiplex = lambda socket: Multiplex(socket, request, handler).run()  # noqa: E731
                return accept(request, multiplex, message_bytes_max=MESSAGE_BYTES_MAX)
            if path.startswith(PREFIX) or path == PREFIX.rstrip("/"):
                return await self._page(request)
            if request.headers.get("x-sampan-page") != "1" or not may_have_session(request):
                return await inner(request)
            if self.user is None:
                return _json(_status(401, "Unauthorized"), 401)
            request.headers["authorization"] = f"Bearer {self.users.token_of(self.user)}"
            response = await inner(request)
            self.requests.append((request.wire.method, request.wire.raw_target, response.status))
            if response.stream is not None and request.wire.long_running:
                response.stream = self._cuttable(response.stream)
            return response

        return handler

    async def _cuttable(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield the chunks of a response until the test cuts the connection."""
        cut = asyncio.Event()
        self._cuts.append(cut)
        is_cut = asyncio.ensure_future(cut.wait())
        following: asyncio.Future[bytes] | None = None
        try:
            while True:
                following = asyncio.ensure_future(anext(chunks))
                await asyncio.wait({following, is_cut}, return_when=asyncio.FIRST_COMPLETED)
                if not following.done():
                    raise ConnectionResetError("the test has cut the connection")
                try:
                    yield following.result()
                except StopAsyncIteration:
                    return
        finally:
            self._cuts.remove(cut)
            is_cut.cancel()
            if following is not None:
                following.cancel()

    async def _page(self, request: Request) -> Response:
        path, method = request.wire.path, request.wire.method
        if path == "/dashboard/session":
            return await self._session(request, method)
        if path.startswith("/dashboard/static/"):
            return self._static(path.rpartition("/")[2], request.headers)
        nonce = secrets.token_urlsafe(16)
        shell = (self.folder / "index.html").read_text().replace("{{nonce}}", nonce)
        headers = [
            (b"content-security-policy", CSP.format(nonce=nonce).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cache-control", b"no-store"),
        ]
        return Response(200, shell.encode(), "text/html; charset=utf-8", headers)

    async def _session(self, request: Request, method: str) -> Response:
        if method == "POST":
            credential = json.loads(await request.wire.read_body(100_000))
            user = self.tokens.get(credential.get("token") or credential.get("link") or "")
            if user is None:
                return _json(_status(401, "the token is not valid"), 401)
            self.user = user
            return _json(self._login(user), 201)
        if method == "DELETE":
            self.user = None
            return Response(204)
        return _json({"logins": self.logins}, 401) if self.user is None else _json(self._login(self.user))

    def _login(self, user: UserInfo) -> dict[str, Any]:
        return {
            "user": {"username": user.name, "groups": list(user.groups)},
            "expires": None,
            "idleExpires": "2030-01-01T00:00:00Z",
            "server": {"version": "1.0", "features": self.features},
        }

    def _static(self, name: str, headers: Mapping[str, str]) -> Response:
        meta = json.loads((self.folder / "meta.json").read_text())["files"]
        if name not in meta:
            return Response(404, b"", "text/plain")
        sent = [(b"cache-control", b"public, max-age=31536000, immutable"), (b"x-content-type-options", b"nosniff")]
        if "br" in headers.get("accept-encoding", ""):
            body = (self.folder / f"{name}.br").read_bytes()
            return Response(200, body, meta[name]["type"], [*sent, (b"content-encoding", b"br")])
        return Response(200, (self.folder / name).read_bytes(), meta[name]["type"], sent)


def _json(value: Any, status: int = 200) -> Response:
    return Response(status, json.dumps(value).encode(), "application/json", [(b"cache-control", b"no-store")])


def _status(code: int, message: str) -> dict[str, Any]:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message}
