"""Credentials: where they come from, and the transport that shows them.

An answer of 401 makes the source look again, and if that brings other credentials the request is sent once more: the
server has not acted on it. Sources answer from memory, except when their time is up.
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
from sampan.http.tls import ClientCertificate

_log = logging.getLogger("sampan.client")

TOKEN_FILE_PERIOD_S = 60.0
"""How long a token file's content is believed; the kubelet replaces it long before it expires."""
TOKEN_FILE_LEEWAY_S = 10.0
CERTIFICATE_PERIOD_S = 300.0
"""How long a certificate file's content is believed."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What to show: an `Authorization` header, a client certificate, or both."""

    authorization: str = field(default="", repr=False)
    certificate: ClientCertificate | None = None

    @classmethod
    def bearer(cls, token: str, certificate: ClientCertificate | None = None) -> "Credentials":
        """A bearer token."""
        return cls(f"Bearer {token}" if token else "", certificate)

    @classmethod
    def basic(cls, username: str, password: str) -> "Credentials":
        """User name and password."""
        return cls("Basic " + b64encode(f"{username}:{password}".encode()).decode("ascii"))


class CredentialSource(Protocol):
    """Where credentials come from."""

    async def current(self) -> Credentials:
        """The credentials for the next request. Raises `CredentialError`."""
        ...

    async def renewed(self, refused: Credentials) -> Credentials:
        """Others than those that the server refused, if there are; else the same. Raises `CredentialError`.

        Many requests may be refused at once: the source looks again once for all of them.
        """
        ...


class StaticCredentials:
    """Credentials that never change."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials

    async def current(self) -> Credentials:
        """The credentials."""
        return self._credentials

    async def renewed(self, refused: Credentials) -> Credentials:
        """The same again."""
        return self._credentials


class TokenFile:
    """A bearer token in a file that somebody else renews (a service account's). Read again every 50 seconds.

    When it cannot be read, the last token is used; `first` is what to use when there has been none.
    """

    def __init__(self, path: Path, *, first: str = "") -> None:
        self._path = path
        self._credentials = Credentials.bearer(first) if first else None
        self._until = 0.0

    async def current(self) -> Credentials:
        """The token that was read last, or that is there now."""
        if self._credentials is None or asyncio.get_running_loop().time() >= self._until:
            self._read()
        assert self._credentials is not None
        return self._credentials

    async def renewed(self, refused: Credentials) -> Credentials:
        """The token that is there now."""
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
            raise CredentialError(f"token file {self._path}: {fault}")
        else:
            _log.warning("token file %s cannot be read again: %s", self._path, fault)


class CertificateFiles:
    """A client certificate in files that somebody else renews, next to the credentials of another source.

    Read again every five minutes, and when it was refused: a connection shows its certificate only once, at its
    beginning. When the files cannot be read, the last certificate is shown.
    Source: client-go transport/cert_rotation.go (1.36).
    """

    def __init__(self, certificate_file: Path, key_file: Path, inner: CredentialSource) -> None:
        self._certificate_file = certificate_file
        self._key_file = key_file
        self._inner = inner
        self._certificate: ClientCertificate | None = None
        self._until = 0.0

    async def current(self) -> Credentials:
        """The certificate that was read last, or that is there now."""
        if self._certificate is None or asyncio.get_running_loop().time() >= self._until:
            self._read()
        return replace(await self._inner.current(), certificate=self._certificate)

    async def renewed(self, refused: Credentials) -> Credentials:
        """What is there now."""
        if self._certificate == refused.certificate:
            self._read()
        inner = await self._inner.renewed(replace(refused, certificate=None))
        return replace(inner, certificate=self._certificate)

    def _read(self) -> None:
        try:
            self._certificate = ClientCertificate(self._certificate_file.read_bytes(), self._key_file.read_bytes())
        except OSError as error:
            if self._certificate is None:
                raise CredentialError(f"client certificate: {error}") from error
            _log.warning("the client certificate cannot be read again: %s", error)
        self._until = asyncio.get_running_loop().time() + CERTIFICATE_PERIOD_S


class CredentialsTransport:
    """Shows a source's credentials with every request that brings no `Authorization` of its own.

    `show_certificate` is told the client certificate whenever the source names another one.
    """

    def __init__(
        self,
        inner: Transport,
        source: CredentialSource,
        *,
        show_certificate: Callable[[ClientCertificate | None], None] | None = None,
    ) -> None:
        self._inner = inner
        self._source = source
        self._show_certificate = show_certificate
        self._shown: ClientCertificate | None = None

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send; after a 401 once more, if there are other credentials. Raises `CredentialError`."""
        if "authorization" in request.headers:
            return await self._inner.send(request)
        used = await self._source.current()
        response = await self._send(request, used)
        if response.status != 401:
            return response
        try:
            renewed = await self._source.renewed(used)
        except CredentialError as error:
            _log.warning("the credentials were refused, and there are no others: %s", error)
            return response
        if renewed == used:
            return response
        await response.aclose()
        return await self._send(request, renewed)

    async def aclose(self) -> None:
        """Close what is inside."""
        await self._inner.aclose()

    async def _send(self, request: HttpRequest, credentials: Credentials) -> HttpResponse:
        if credentials.certificate != self._shown and self._show_certificate is not None:
            self._shown = credentials.certificate
            self._show_certificate(credentials.certificate)
        if credentials.authorization:
            request = replace(request, headers={**request.headers, "authorization": credentials.authorization})
        return await self._inner.send(request)
