"""`ServingTls`: serving certificates, client certificates in the handshake, and reload.

A client certificate is requested, not required, and the handshake accepts any. The authenticator decides later if it is
valid, so that an invalid one only leads to a 401. OpenSSL accepts only certificates that it trusts. So when the
certificate message arrives, before verification, the connection gets a trust store with that certificate alone. The
handshake then proves that the client has the key.

The serving certificate is selected when the client has sent the server name. A reload replaces the certificates.

Concurrency: `run()` polls the files. Everything else happens in the handshakes on the event loop.

Source: apiserver pkg/server/secure_serving.go, dynamiccertificates (1.36); RFC 8446, RFC 5246 for the messages.
"""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography import x509

from sampan.core.operating_system.file_stamps import Stamps, stamps
from sampan.core.tls.cipher_suites import use_suites
from sampan.core.tls.trust import trust
from sampan.server.pki.client_verifier import ClientCertificateVerifier, read_authorities
from sampan.server.tls.client_ca_names import name_client_cas
from sampan.server.tls.sni import CertKey, ServerNames, hosts_in, names_in

_log = logging.getLogger("sampan.tls")

HTTP_1 = "http/1.1"
HTTP_2 = "h2"
RELOAD_INTERVAL_S = 10.0
_PRESENTED_MAX = 64
_NO_CHECK_TIME = 0x200000
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME; the authenticator checks the dates."""
_HANDSHAKE, _CERTIFICATE, _FINISHED = 22, 11, 20
_TLS_1_3 = 0x0304
_CHAIN = "presented_chain"

VERSIONS = {"VersionTLS12": ssl.TLSVersion.TLSv1_2, "VersionTLS13": ssl.TLSVersion.TLSv1_3}
"""Values of --tls-min-version."""


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """TLS settings of the listening socket."""

    serving: CertKey
    """Certificate for clients that send no known server name."""
    sni: tuple[CertKey, ...] = ()
    client_ca_files: tuple[Path, ...] = ()
    min_version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
    cipher_suites: tuple[str, ...] = ()
    """Names from `cipher_suites.NAMES`; empty: the suites of a Go server."""
    protocols: tuple[str, ...] = (HTTP_1,)
    """ALPN protocols in order of preference."""

    def files(self) -> list[Path]:
        """Return all files that are read."""
        pairs = [file for pair in (self.serving, *self.sni) for file in (pair.certificate, pair.key)]
        return [*pairs, *self.client_ca_files]


class ServingTls:
    """Serving certificates that reload. `context` is for the listening socket, `verifier` for the authenticator.

    **Raises** `OSError` and `ValueError` (`ssl.SSLError` is an `OSError`) if a file is unusable.
    """

    def __init__(self, settings: TlsSettings) -> None:
        self._settings = settings
        self._presented: dict[bytes, ssl.SSLContext] = {}
        self._done = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        """Context for connections after the handshake. It has no message callback and no certificates."""
        self._seen = self._signature()
        self._warned: object = None
        self.verifier = ClientCertificateVerifier(self._authorities())
        self.certificates: Sequence[x509.Certificate] = ()
        """Serving certificates in use: the default one, then those for other server names."""
        self._names, self._default, self._hosts = self._load()
        self.context = self._listening_context()

    def hosts(self) -> frozenset[str]:
        """Return the names and IP addresses in the serving certificates."""
        return self._hosts

    def reload(self) -> bool:
        """Load the files if they have changed, and return True if they were loaded. Errors are logged, and the old
        certificates stay.
        """
        signature = self._signature()
        # The signature is taken before the files are read: a change in between is noticed at the next poll.
        if signature == self._seen:
            return False
        try:
            authorities = self._authorities()
            names, default, certified = self._load()
        except (OSError, ValueError) as error:
            # Once for each state of the files, not at every poll.
            if signature != self._warned:
                self._warned = signature
                _log.warning(
                    "cannot reload serving certificates or client CAs; keeping the old ones",
                    extra={"error": str(error)},
                )
            return False
        # All were read without an error: certificates and CAs are replaced together, or not at all.
        self._seen, self._names, self._default, self._hosts = signature, names, default, certified
        self.verifier.replace(authorities)
        _log.info("reloaded serving certificates and client CAs")
        return True

    async def run(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Reload periodically if files have changed. Never returns. `sleep` waits for a number of seconds."""
        while True:
            await sleep(RELOAD_INTERVAL_S)
            self.reload()

    # --- handshakes

    def _listening_context(self) -> ssl.SSLContext:
        context = self._context(self._settings.serving)
        context.minimum_version = max(context.minimum_version, self._settings.min_version)
        context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
        # A resumed session does not contain the client's intermediate certificates.
        context.num_tickets = 0
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | ssl.VerifyFlags(_NO_CHECK_TIME)
        if self._settings.client_ca_files:
            context.verify_mode = ssl.CERT_OPTIONAL
        context.sni_callback = self._choose
        return context

    def _context(self, pair: CertKey) -> ssl.SSLContext:
        """Return the context for the rest of a handshake, after the server name is known. Versions and options are not
        replaced.
        """
        context: Any = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        context.set_alpn_protocols(list(self._settings.protocols))
        use_suites(context, self._settings.cipher_suites)
        context._msg_callback = self._listen
        name_client_cas(context, self._settings.client_ca_files)
        made: ssl.SSLContext = context
        return made

    def _choose(self, connection: ssl.SSLObject, server_name: str | None, _: ssl.SSLContext) -> None:
        connection.context = self._names.find(server_name) or self._default

    def _listen(
        self, connection: ssl.SSLObject, direction: str, version: int, content: int, kind: int, data: bytes
    ) -> None:
        """Handle each handshake message before OpenSSL handles it."""
        if direction != "read" or content != _HANDSHAKE:
            return
        if kind == _CERTIFICATE:
            chain = certificate_message(data, tls_1_3=version == _TLS_1_3)
            if chain:
                self._trust(connection, chain)
        elif kind == _FINISHED:
            connection.context = self._done

    def _trust(self, connection: ssl.SSLObject, chain: tuple[bytes, ...]) -> None:
        """Trust this client certificate for the rest of the handshake, with any issuer."""
        context = self._presented.get(chain[0])
        if context is None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            try:
                trust(context, ssl.DER_cert_to_PEM_cert(chain[0]))
            except (OSError, ValueError):
                return  # OpenSSL reports the fault
            # Anyone can present certificates, so the cache has a bound.
            if len(self._presented) >= _PRESENTED_MAX:
                self._presented.clear()
            self._presented[chain[0]] = context
        setattr(connection, _CHAIN, chain)
        connection.context = context

    # --- files

    def _load(self) -> tuple[ServerNames[ssl.SSLContext], ssl.SSLContext, frozenset[str]]:
        """Return the contexts by server name, the default one, and the names and addresses in all certificates."""
        pairs = (self._settings.serving, *self._settings.sni)
        certificates = [x509.load_pem_x509_certificate(pair.certificate.read_bytes()) for pair in pairs]
        certified = {host for certificate in certificates for host in hosts_in(certificate)}
        entries = []
        for pair, certificate in zip(self._settings.sni, certificates[1:], strict=True):
            entries.append((self._context(pair), pair.names, names_in(certificate)))
            certified.update(pair.names)
        default = self._context(self._settings.serving)
        self.certificates = certificates
        return ServerNames(entries), default, frozenset(certified)

    def _authorities(self) -> list[x509.Certificate]:
        return [ca for file in self._settings.client_ca_files for ca in read_authorities(file.read_bytes(), file)]

    def _signature(self) -> Stamps:
        return stamps(*self._settings.files())


def client_chain(ssl_object: ssl.SSLObject) -> tuple[bytes, ...]:
    """Return the certificates of a client in DER, leaf first. Their signatures are not verified."""
    chain: tuple[bytes, ...] | None = getattr(ssl_object, _CHAIN, None)
    if chain is None:
        leaf = ssl_object.getpeercert(binary_form=True)
        return (leaf,) if leaf else ()
    return chain


def certificate_message(data: bytes, *, tls_1_3: bool) -> tuple[bytes, ...]:
    """Return the certificates (DER) in a Certificate handshake message; empty if it is truncated or empty."""
    at = 4
    if tls_1_3:
        at += 1 + int.from_bytes(data[at : at + 1], "big")
    end = at + 3 + int.from_bytes(data[at : at + 3], "big")
    at += 3
    chain = []
    while at < end:
        start = at + 3
        at = start + int.from_bytes(data[at:start], "big")
        if not start < at <= len(data):
            return ()
        chain.append(bytes(data[start:at]))
        if tls_1_3:
            at += 2 + int.from_bytes(data[at : at + 2], "big")
    return tuple(chain)
