"""Sources of credentials, and the transport that adds them to requests.

After a 401, the source renews its credentials. If they have changed, the request is sent once more; that is safe
because the server has not acted on it. Sources use cached credentials until those expire.

Source: client-go transport/token_source.go, plugin/pkg/client/auth/exec/exec.go (1.36).
"""

import asyncio
import logging
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from sampan.client.errors import CredentialError
from sampan.client.transport import HttpRequest, HttpResponse, Transport
from sampan.http.client.tls import ClientCertificate

_log = logging.getLogger("sampan.client")

TOKEN_FILE_PERIOD_S = 60.0
"""Cache time of a token file. The kubelet replaces a token long before it expires."""
TOKEN_FILE_LEEWAY_S = 10.0
CERTIFICATE_PERIOD_S = 300.0
"""Cache time of certificate files."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Credentials of a request: an `Authorization` header, a client certificate, or both."""

    authorization: str = field(default="", repr=False)
    certificate: ClientCertificate | None = None

    @classmethod
    def bearer(cls, token: str, certificate: ClientCertificate | None = None) -> "Credentials":
        """Return credentials with a bearer token."""
        return cls(f"Bearer {token}" if token else "", certificate)

    @classmethod
    def basic(cls, username: str, password: str) -> "Credentials":
        """Return credentials for basic authentication."""
        return cls("Basic " + b64encode(f"{username}:{password}".encode()).decode("ascii"))


class CredentialSource(Protocol):
    """Seam between a client and its login: a static token, a file, a plug-in. It is called before each request."""

    async def current(self) -> Credentials:
        """Return the credentials for the next request. Raises `CredentialError`."""
        ...

    async def renewed(self, refused: Credentials) -> Credentials:
        """Return newer credentials than the refused ones, or the same if none are newer. Raises
        `CredentialError`.

        If many requests are refused at once, the source renews its credentials once for all of them.
        """
        ...


class StaticCredentials:
    """Credentials that never change."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials

    async def current(self) -> Credentials:
        """Return the credentials."""
        return self._credentials

    async def renewed(self, refused: Credentials) -> Credentials:
        """Return the unchanged credentials."""
        return self._credentials


class TokenFile:
    """Bearer token in a file that another process renews (a service account's). Read again every 50 seconds.

    If the file cannot be read, the last token remains in use; `first` is used until a token has been read.
    """

    def __init__(self, path: Path, *, first: str = "") -> None:
        self._path = path
        self._credentials = Credentials.bearer(first) if first else None
        self._until = 0.0

    async def current(self) -> Credentials:
        """Return the cached token, or read the file if the cache has expired."""
        if self._credentials is None or asyncio.get_running_loop().time() >= self._until:
            self._read()
        assert self._credentials is not None
        return self._credentials

    async def renewed(self, refused: Credentials) -> Credentials:
        """Return the token that the file now contains."""
        # If they differ, another request has already renewed the token, and this one was sent with the old.
        if self._credentials == refused:
            self._read()
        assert self._credentials is not None
        return self._credentials

    def _read(self) -> None:
        try:
            token = self._path.read_text("utf-8").strip()
            fault = "" if token else "it is empty"
        except (OSError, ValueError) as error:
            token, fault = "", str(error)
        if token:
            self._credentials = Credentials.bearer(token)
            self._until = asyncio.get_running_loop().time() + TOKEN_FILE_PERIOD_S - TOKEN_FILE_LEEWAY_S
        elif self._credentials is None:
            raise CredentialError(f"cannot read token file {self._path}: {fault}")
        else:
            _log.warning("cannot reload token file %s: %s; keeping the old token", self._path, fault)


class ClientCertificateFiles:
    """Client certificate in files that another process renews, combined with the credentials of another source.

    The files are read again every five minutes and after a 401. A new certificate needs new connections, as TLS
    presents it only in the handshake. If the files cannot be read, the last certificate remains in use.

    Source: client-go transport/cert_rotation.go (1.36).
    """

    def __init__(self, certificate_file: Path, key_file: Path, inner: CredentialSource) -> None:
        self._certificate_file = certificate_file
        self._key_file = key_file
        self._inner = inner
        self._certificate: ClientCertificate | None = None
        self._until = 0.0

    async def current(self) -> Credentials:
        """Return the cached certificate, or read the files if the cache has expired."""
        if self._certificate is None or asyncio.get_running_loop().time() >= self._until:
            self._read()
        return replace(await self._inner.current(), certificate=self._certificate)

    async def renewed(self, refused: Credentials) -> Credentials:
        """Return the certificate that the files now contain, with the other source's renewed credentials."""
        # As above: many requests may be refused at once, and one read of the files serves all.
        if self._certificate == refused.certificate:
            self._read()
        inner = await self._inner.renewed(replace(refused, certificate=None))
        return replace(inner, certificate=self._certificate)

    def _read(self) -> None:
        try:
            self._certificate = ClientCertificate(self._certificate_file.read_bytes(), self._key_file.read_bytes())
        except OSError as error:
            if self._certificate is None:
                raise CredentialError(f"cannot read client certificate: {error}") from error
            _log.warning("cannot reload client certificate: %s; keeping the old one", error)
        self._until = asyncio.get_running_loop().time() + CERTIFICATE_PERIOD_S


class CredentialsTransport:
    """Adds a source's credentials to every request that has no `Authorization` header.

    `use_certificate` is called with the client certificate whenever the source returns another one.
    """

    def __init__(
        self,
        inner: Transport,
        source: CredentialSource,
        *,
        use_certificate: Callable[[ClientCertificate | None], None] | None = None,
    ) -> None:
        self._inner = inner
        self._source = source
        self._use_certificate = use_certificate
        self._certificate: ClientCertificate | None = None

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request, and once more after a 401 if there are newer credentials. Raises `CredentialError`."""
        if "authorization" in request.headers:
            return await self._inner.send(request)
        used = await self._source.current()
        response = await self._send(request, used)
        if response.status != 401:
            return response
        try:
            renewed = await self._source.renewed(used)
        except CredentialError as error:
            _log.warning("server refused the credentials; cannot renew them: %s", error)
            return response
        # The same credentials would be refused again, so the caller gets the first response.
        if renewed == used:
            return response
        # Before the second request, or the first response would occupy a connection of the pool.
        await response.aclose()
        return await self._send(request, renewed)

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()

    async def _send(self, request: HttpRequest, credentials: Credentials) -> HttpResponse:
        if credentials.certificate != self._certificate and self._use_certificate is not None:
            self._certificate = credentials.certificate
            self._use_certificate(credentials.certificate)
        if credentials.authorization:
            request = replace(request, headers={**request.headers, "authorization": credentials.authorization})
        return await self._inner.send(request)
