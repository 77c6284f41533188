"""TLS of clients: `TlsOptions` are CAs and certificate; `TlsContexts` creates and renews contexts.

Each new connection checks the files and creates a new context if one has changed. So certificates and CAs can be
replaced without a restart.
"""

import ssl
from dataclasses import dataclass, field
from pathlib import Path

from sampan.core.operating_system.memory_file import memory_file
from sampan.core.tls.trust import client_context, unverified_context

_HTTP_1 = ["http/1.1"]
_Seen = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """Client certificate (with its chain) and its key, both PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class TlsOptions:
    """Trusted CAs and the client certificate. Data (PEM) overrides files. The default is the system's CAs."""

    ca_file: str = ""
    ca_data: bytes = field(default=b"", repr=False)
    certificate_file: str = ""
    certificate_data: bytes = field(default=b"", repr=False)
    key_file: str = ""
    key_data: bytes = field(default=b"", repr=False)
    server_name: str = ""
    """Name that the server's certificate must have; empty: the host of the address."""
    insecure: bool = False
    """Accept any certificate."""

    @property
    def shows_certificate(self) -> bool:
        """True if there is a client certificate."""
        return bool(self.certificate_file or self.certificate_data)

    def files(self) -> list[str]:
        """Paths of the files in use; a file is not used if data replaces it."""
        used = [
            "" if self.ca_data or self.insecure else self.ca_file,
            "" if self.certificate_data else self.certificate_file,
            "" if self.key_data else self.key_file,
        ]
        return [file for file in used if file]


class TlsContexts:
    """Source of the TLS context for the next connection."""

    def __init__(self, options: TlsOptions) -> None:
        self.options = options
        self._certificate: ClientCertificate | None = None
        self._context: ssl.SSLContext | None = None
        self._seen: _Seen = ()

    def use_certificate(self, certificate: ClientCertificate | None) -> bool:
        """Use this certificate for new connections (None: that of the options). Return True if it has changed."""
        changed = certificate != self._certificate
        if changed:
            self._certificate = certificate
            self._context = None
        return changed

    def current(self) -> ssl.SSLContext:
        """Return the context, renewed if a file has changed. Raises `OSError`, `ssl.SSLError`, `ValueError`."""
        seen = _seen(self.options.files())
        if self._context is None or seen != self._seen:
            self._context = _context(self.options, self._certificate)
            self._seen = seen
        return self._context


def _seen(files: list[str]) -> _Seen:
    stats = [Path(file).stat() for file in files]
    return tuple((stat.st_mtime_ns, stat.st_size, stat.st_ino) for stat in stats)


def _context(options: TlsOptions, certificate: ClientCertificate | None) -> ssl.SSLContext:
    if options.insecure:
        context = unverified_context(protocols=_HTTP_1)
    elif options.ca_data:
        context = client_context(_pem(options.ca_data), protocols=_HTTP_1)
    elif options.ca_file:
        context = client_context(_pem(Path(options.ca_file).read_bytes()), protocols=_HTTP_1)
    else:
        context = client_context(None, protocols=_HTTP_1)
    shown = certificate or _certificate(options)
    if shown is not None:
        load_certificate(context, shown)
    return context


def _pem(data: bytes) -> str:
    text = data.decode("ascii", "replace")
    if "-----BEGIN" not in text:
        raise ValueError("certificate authority: no PEM certificate found")
    return text


def _certificate(options: TlsOptions) -> ClientCertificate | None:
    if not options.shows_certificate:
        return None
    certificate = options.certificate_data or Path(options.certificate_file).read_bytes()
    key = options.key_data or (Path(options.key_file).read_bytes() if options.key_file else b"")
    return ClientCertificate(certificate, key)


def load_certificate(context: ssl.SSLContext, shown: ClientCertificate) -> None:
    """Load a certificate from memory into a context. Raises `ssl.SSLError`, `ValueError`."""
    # Python's ssl module reads certificates only from files.
    with memory_file(shown.certificate + b"\n" + shown.key) as file:

        def no_password() -> bytes:
            raise ValueError("client key: it is encrypted; use an unencrypted key")

        context.load_cert_chain(file, password=no_password)
