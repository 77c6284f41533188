"""`LoginIssuer`: an issuer of OpenID Connect with a login page, in a thread, for a browser.

Concurrency: the thread owns the event loop and the listener. Other threads use the address only.
"""

import asyncio
import base64
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import orjson

from sampan.core.clock import unix_time
from tests.server.authentication.https_server import HttpsServer, https_server
from tests.server.authentication.test_jwt_issuers import FIRST, Issuer

_START_S: Final = 30


class LoginIssuer:
    """An issuer that runs. The link of its page logs in as jane."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="issuer")
        self._loop: asyncio.AbstractEventLoop
        self._end: asyncio.Event
        self._begun: dict[str, dict[str, str]] = {}
        self.url = ""
        self.ca_file = folder / "issuer-ca.crt"

    def start(self) -> None:
        """Start, and wait until the issuer serves."""
        self._thread.start()
        if not self._ready.wait(_START_S):
            raise RuntimeError("the issuer did not start")

    def stop(self) -> None:
        """End the issuer, and wait for the end."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with https_server(self._folder, self._response) as server:
            self.url = server.url = server.url.replace("127.0.0.1", "localhost")
            self.ca_file.write_text(server.ca_pem)
            self._issuer = self._publish(server)
            self._ready.set()
            await self._end.wait()

    def _publish(self, server: HttpsServer) -> Issuer:
        issuer = Issuer(server, [])
        issuer.publish(("1", FIRST))
        return issuer

    async def _response(self, path: str, body: bytes) -> tuple[int, bytes]:
        target = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(target.query).items()}
        match target.path:
            case "/.well-known/openid-configuration":
                return 200, self._metadata()
            case "/keys":
                return 200, orjson.dumps({"keys": self._issuer.jwks})
            case "/authorize":
                return 200, self._page(query)
            case "/agree":
                return 303, self._agreed(query)
            case "/token":
                return 200, self._token(dict(parse_qsl(body.decode())))
        return 404, b""

    def _metadata(self) -> bytes:
        url = self.url
        endpoints = {"authorization_endpoint": f"{url}/authorize", "token_endpoint": f"{url}/token"}
        return orjson.dumps({"issuer": url, "jwks_uri": f"{url}/keys", **endpoints})

    def _page(self, query: dict[str, str]) -> bytes:
        self._begun[query["state"]] = query
        target = f"/agree?{urlencode({'state': query['state']})}"
        return f'<!doctype html><html lang="en"><title>Issuer</title><a href="{target}">Continue as jane</a>'.encode()

    def _agreed(self, query: dict[str, str]) -> bytes:
        begun = self._begun[query["state"]]
        return f"{begun['redirect_uri']}?{urlencode({'code': query['state'], 'state': query['state']})}".encode()

    def _token(self, form: dict[str, str]) -> bytes:
        begun = self._begun.pop(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == begun["code_challenge"]
        claims: dict[str, Any] = {"nonce": begun["nonce"], "exp": int(unix_time()) + 3600}
        return orjson.dumps({"id_token": self._issuer.token(FIRST, "1", **claims), "token_type": "Bearer"})


@contextmanager
def login_issuer(folder: Path) -> Iterator[LoginIssuer]:
    """Run an issuer in the block."""
    issuer = LoginIssuer(folder)
    issuer.start()
    try:
        yield issuer
    finally:
        issuer.stop()
