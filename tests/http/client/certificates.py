"""An authority for tests, and what it issues."""

import datetime as dt
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Issued:
    """A certificate and its key, both PEM."""

    certificate: bytes
    key: bytes

    def files(self, folder: Path, name: str = "tls") -> tuple[Path, Path]:
        """Written to files."""
        certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
        certificate.write_bytes(self.certificate)
        key.write_bytes(self.key)
        return certificate, key


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Authority:
    """Issues certificates."""

    def __init__(self, name: str = "tests") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        self.certificate = self._sign(self._name, self._key.public_key(), [], authority=True)

    def issue(self, name: str = "server", *, hosts: tuple[str, ...] = ("127.0.0.1",), expired: bool = False) -> Issued:
        """A certificate for hosts (names or addresses)."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._sign(_name(name), key.public_key(), list(hosts), expired=expired)
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return Issued(certificate, pem)

    def server_context(self, issued: Issued, folder: Path, *, clients: "Authority | None" = None) -> ssl.SSLContext:
        """The context of a server; `clients` is the authority that has to sign the certificates of clients."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*issued.files(folder, "server"))
        if clients is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata=clients.certificate.decode())
        return context

    def _sign(
        self,
        subject: x509.Name,
        public: ec.EllipticCurvePublicKey,
        hosts: list[str],
        *,
        authority: bool = False,
        expired: bool = False,
    ) -> bytes:
        now = dt.datetime.now(dt.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=2))
            .not_valid_after(now + dt.timedelta(days=-1 if expired else 1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        )
        if hosts:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False
            )
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
