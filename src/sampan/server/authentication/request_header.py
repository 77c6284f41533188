"""Front proxy: an authenticating proxy that names the user in request headers.

Source: apiserver pkg/authentication/request/headerrequest/requestheader.go, request/x509/x509.go (1.36).
"""

import datetime
import logging
from collections.abc import Callable
from dataclasses import dataclass

from cryptography import x509
from cryptography.x509.oid import NameOID

from sampan.core.clock import unix_time
from sampan.core.errors import StatusError, unauthorized
from sampan.core.field import quote
from sampan.server.authentication.authenticator import with_authenticated_group
from sampan.server.incoming import extra_key, identity_values
from sampan.server.pki.client_verifier import ClientCertificateVerifier, Validity
from sampan.server.request import Request, UserInfo

_log = logging.getLogger("sampan.authentication")

_PROXIES_MAX = 256


@dataclass(frozen=True, slots=True)
class RequestHeaders:
    """Headers that name the user, in lower case, and the proxies that may set them."""

    usernames: tuple[str, ...] = ("x-remote-user",)
    uids: tuple[str, ...] = ("x-remote-uid",)
    groups: tuple[str, ...] = ("x-remote-group",)
    extra_prefixes: tuple[str, ...] = ("x-remote-extra-",)
    allowed_names: tuple[str, ...] = ()
    """Allowed common names of the proxies' certificates. Empty for all certificates that the CA has signed."""

    def clear(self, headers: dict[str, str]) -> None:
        """Remove the user headers, so that nothing after authentication can trust them."""
        for name in (*self.usernames, *self.uids, *self.groups):
            headers.pop(name, None)
        for name in [name for name in headers if name.startswith(self.extra_prefixes)]:
            del headers[name]


STANDARD_HEADERS = RequestHeaders()


class RequestHeaderAuthenticator:
    """Authenticates the user that a front proxy names. Verifies the proxy's certificate once for each set of CAs."""

    def __init__(
        self, verifier: ClientCertificateVerifier, headers: RequestHeaders, now: Callable[[], float] = unix_time
    ) -> None:
        self._verifier = verifier
        self._headers = headers
        self._now = now
        self._proxies: dict[bytes, tuple[int, Validity]] = {}
        """Cache by certificate: generation of the CAs, start and end of the validity."""

    def recall(self, request: Request) -> UserInfo | None:
        """Return the user that the proxy names. Needs no I/O, and takes precedence over cached credentials of other
        kinds.
        """
        try:
            return self._user(request)
        except StatusError:
            return None

    async def authenticate(self, request: Request) -> UserInfo | None:
        """Return the user, or None if the request has no credentials of this authenticator's kind.

        Raises `StatusError` 401 if the certificate is not that of an allowed proxy.
        """
        return self._user(request)

    def _user(self, request: Request) -> UserInfo | None:
        der, headers = request.wire.client_certificate, request.headers
        if der is None:
            return None
        name = _first(headers, self._headers.usernames)
        if not name:
            return None
        self._check_proxy(der, request)
        groups = [value for header in self._headers.groups for value in _values(headers.get(header, ""))]
        extra: dict[str, tuple[str, ...]] = {}
        for prefix in self._headers.extra_prefixes:
            for header, value in headers.items():
                if header.startswith(prefix):
                    key = extra_key(header[len(prefix) :])
                    extra[key] = (*extra.get(key, ()), *_values(value))
        return with_authenticated_group(UserInfo(name, _first(headers, self._headers.uids), tuple(groups), extra))

    def _check_proxy(self, der: bytes, request: Request) -> None:
        now = self._now()
        known = self._proxies.get(der)
        if known is None or known[0] != self._verifier.generation or not known[1].includes(now):
            self._verify(der, request, now)

    def _verify(self, der: bytes, request: Request, now: float) -> None:
        try:
            certificate = x509.load_der_x509_certificate(der)
            at = datetime.datetime.fromtimestamp(now, datetime.UTC)
            validity = self._verifier.verify(certificate, request.wire.client_intermediates, at)
            self._check_name(certificate)
        except ValueError as error:
            text = str(error)
            _log.debug("front proxy refused", extra={"error": text, "source": request.wire.client_address})
            raise unauthorized() from None
        if len(self._proxies) >= _PROXIES_MAX:
            self._proxies.clear()
        self._proxies[der] = self._verifier.generation, validity

    def _check_name(self, certificate: x509.Certificate) -> None:
        names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        name = str(names[-1].value) if names else ""
        if self._headers.allowed_names and name not in self._headers.allowed_names:
            raise ValueError(f"x509: subject with cn={quote(name)} is not in the allowed list")


def _first(headers: dict[str, str], names: tuple[str, ...]) -> str:
    """Return the value of the first of these headers that is not empty. If the header is repeated, return its first
    value.
    """
    for name in names:
        value = identity_values(headers.get(name, ""))[0]
        if value:
            return value
    return ""


def _values(header: str) -> list[str]:
    return [value for value in identity_values(header) if value]
