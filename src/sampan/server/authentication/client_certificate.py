"""Client certificates: the common name is the user, the organizations are the groups.

The TLS handshake proves only that the client has the private key. This module verifies the issuer. A connection may
outlive its certificate, a certificate of its CAs, or the trust in its CA, so each request checks them.
Source: apiserver pkg/authentication/request/x509/x509.go (1.36).
"""

import datetime
import logging
from collections.abc import Callable
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import NameOID

from sampan.core.clock import unix_time
from sampan.core.errors import StatusError, unauthorized
from sampan.server.authentication.authenticator import with_authenticated_group
from sampan.server.pki.client_verifier import ClientCertificateVerifier, Validity
from sampan.server.request import Request, UserInfo

_log = logging.getLogger("sampan.authentication")

UID_OID = x509.ObjectIdentifier("1.3.6.1.4.1.57683.2")
CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
_CACHE_ENTRIES_MAX = 4096


class _Entry(NamedTuple):
    user: UserInfo | None
    generation: int
    validity: Validity


class ClientCertificateAuthenticator:
    """Verifies a certificate once. Caches the user by the certificate's bytes until the client CAs change."""

    def __init__(self, verifier: ClientCertificateVerifier, now: Callable[[], float] = unix_time) -> None:
        self._verifier = verifier
        self._now = now
        self._entries: dict[bytes, _Entry] = {}

    def recall(self, request: Request) -> UserInfo | None:
        """Return the user of a valid certificate.

        Verifies an unknown certificate at once, because a cached token must not take precedence over a certificate.
        """
        der = request.wire.client_certificate
        if der is None:
            return None
        try:
            return self._entry(der, request).user
        except StatusError:
            return None

    async def authenticate(self, request: Request) -> UserInfo | None:
        """Return the user of the connection's certificate; None without a certificate or without a common name.

        Raises `StatusError` 401 if no client CA signed the certificate, or if it is not valid now.
        """
        der = request.wire.client_certificate
        if der is None:
            return None
        return self._entry(der, request).user

    def _entry(self, der: bytes, request: Request) -> _Entry:
        """Return the result for a certificate. Verify it again when a certificate of its chain has expired."""
        entry = self._entries.get(der)
        if entry is None or entry.generation != self._verifier.generation or not entry.validity.includes(self._now()):
            entry = self._verified(der, request)
        return entry

    def _verified(self, der: bytes, request: Request) -> _Entry:
        try:
            certificate = x509.load_der_x509_certificate(der)
            now = datetime.datetime.fromtimestamp(self._now(), datetime.UTC)
            validity = self._verifier.verify(certificate, request.wire.client_intermediates, now)
            user = certificate_user(certificate)
        except ValueError as error:
            text = str(error)
            _log.debug("client certificate refused", extra={"error": text, "source": request.wire.client_address})
            raise unauthorized() from None
        if len(self._entries) >= _CACHE_ENTRIES_MAX:
            self._entries.clear()
        entry = _Entry(user, self._verifier.generation, validity)
        self._entries[der] = entry
        return entry


def certificate_user(certificate: x509.Certificate) -> UserInfo | None:
    """Return the user that a certificate names. Raises `ValueError` if it contains several uids or an empty one."""
    subject = certificate.subject
    names = subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if not names or not names[-1].value:
        return None
    uids = [str(attribute.value) for attribute in subject.get_attributes_for_oid(UID_OID)]
    if len(uids) > 1:
        raise ValueError(f"expected 1 UID, but found multiple: [{' '.join(uids)}]")
    if "" in uids:
        raise ValueError("UID cannot be an empty string")
    groups = tuple(str(a.value) for a in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME))
    fingerprint = certificate.fingerprint(hashes.SHA256()).hex()
    extra: dict[str, tuple[str, ...]] = {CREDENTIAL_ID: (f"X509SHA256={fingerprint}",)}
    return with_authenticated_group(UserInfo(str(names[-1].value), "".join(uids), groups, extra))
