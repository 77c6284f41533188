"""`HttpsGet`: GET requests over TLS for the documents of an issuer and for distributed claims.

Concurrency: a request runs in its caller's task, on a new connection that is closed afterwards.
"""

import asyncio
import ssl
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, urlencode, urljoin, urlsplit

from sampan.core.tls.trust import client_context
from sampan.http.client import HttpClient, HttpClientSettings, HttpRequest, TransportError, Upstream
from sampan.registry.webhook.response import RESPONSE_SIZE_BYTES_MAX, WebhookError, WebhookResponse
from sampan.server.proxy.words import connection_text
from sampan.wire.http1 import request_head

TIMEOUT_S = 30.0
_SETTINGS = HttpClientSettings(
    connections_max=None, idle_max=0, body_bytes_max=RESPONSE_SIZE_BYTES_MAX, compression=False, decompression=False
)
_PORTS: Final = {"https": 443, "http": 80}
_REDIRECTS_MAX: Final = 10
_GOOD: Final = range(200, 227)
_SAFE: Final = "/%:@!$&'()*+,;=~"


class FetchError(Exception):
    """A document cannot be fetched. The text is the reason."""


class HttpsGet:
    """Trusts the CAs passed, or with "" those of the system. Follows redirects, also to plain http."""

    def __init__(self, ca_pem: str = "", timeout_s: float = TIMEOUT_S) -> None:
        self._ca_pem = ca_pem
        self._timeout_s = timeout_s
        self._tls: ssl.SSLContext | None = None
        self._client = HttpClient(_SETTINGS)

    async def __call__(self, url: str) -> bytes:
        """Return the body of a successful (2xx) response. Raises `FetchError`."""
        reply = await self._get(url, "")
        try:
            return reply.checked()
        except WebhookError as error:
            raise FetchError(f'Get "{url}": {error}') from None

    async def claim(self, url: str, access_token: str) -> str:
        """Return the token at a URL. `access_token` authenticates the request unless it is "". Raises `FetchError`."""
        reply = await self._get(url, access_token)
        if reply.status not in _GOOD:
            raise FetchError(f"error while getting distributed claim JWT: {_status_text(reply.status)}")
        return reply.body.decode("utf-8", "replace")

    async def post_form(self, url: str, form: Mapping[str, str]) -> tuple[int, bytes]:
        """Return status and body of the response to a form. Redirects are not followed. Raises `FetchError`."""
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await self._exchange(url, "", urlencode(form).encode())
        except TimeoutError:
            raise FetchError(f'Post "{url}": context deadline exceeded') from None
        except TransportError as error:
            raise FetchError(f'Post "{url}": {error.__cause__ or error}') from None
        except (OSError, ValueError, WebhookError) as error:
            raise FetchError(f'Post "{url}": {error}') from None
        return reply.status, reply.body

    async def _get(self, url: str, access_token: str) -> WebhookResponse:
        """Return the response after all redirects. Raises `FetchError`."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._follow(url, access_token)
        except TimeoutError:
            text = "context deadline exceeded"
        except TransportError as error:
            text = str(error.__cause__ or error)
        except (OSError, ValueError, WebhookError) as error:
            text = str(error)
        raise FetchError(f'Get "{url}": {text}')

    async def _follow(self, url: str, access_token: str) -> WebhookResponse:
        """Follow redirects. The access token is sent to the first host only."""
        host = urlsplit(url).netloc
        for _ in range(_REDIRECTS_MAX):
            reply = await self._exchange(url, access_token)
            if not reply.location:
                return reply
            url = urljoin(url, reply.location)
            if urlsplit(url).netloc != host:
                access_token = ""
        raise ValueError(f"stopped after {_REDIRECTS_MAX} redirects")

    async def _exchange(self, url: str, access_token: str, form: bytes = b"") -> WebhookResponse:
        """Send a GET request, or the form."""
        parts = urlsplit(url)
        _check(url, access_token)
        if self._tls is None:
            self._tls = client_context(self._ca_pem or None)
        tls = self._tls if parts.scheme == "https" else None
        host = parts.hostname or ""
        port = parts.port or _PORTS[parts.scheme]
        target = quote(parts.path or "/", _SAFE) + (f"?{parts.query}" if parts.query else "")
        headers = {"Host": parts.netloc, "User-Agent": "sampan", "Accept": "application/json", "Connection": "close"}
        if access_token:
            headers["Authorization"] = f"Bearer {access_token}"
        # Hosts are settings, or named by tokens of configured issuers.
        endpoint = Upstream(host, port, tls, any_address=True, connect_timeout_s=None)
        method = "POST" if form else "GET"
        if form:
            headers |= {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(form))}
        head = request_head(method, target, headers.items())
        try:
            response = await self._client.send(endpoint, HttpRequest(method, target, body=form), head)
        except TransportError as error:
            if error.sent or not isinstance(error.__cause__, OSError):
                raise
            raise ValueError(connection_text(host, f"{host}:{port}", error.__cause__)) from None
        return WebhookResponse(response.status, response.headers, await response.read())


def _check(url: str, access_token: str) -> None:
    """Refuse URLs and tokens that could end a line of the request. Raises `ValueError`."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS:
        raise ValueError(f'unsupported protocol scheme "{parts.scheme}"')
    if not parts.hostname:
        raise ValueError("no Host in request URL")
    if not url.isprintable() or " " in parts.netloc + parts.query:
        raise ValueError("invalid character in URL")
    if not (access_token.isascii() and access_token.isprintable()):
        raise ValueError("the access token has characters that a header must not have")


def _status_text(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
