"""Certificates that Go's x509 takes or refuses, each with the bundle that its peer trusts."""

import datetime as dt
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sampan.core.tls.certificates import KeyPair

HOST = "127.0.0.1"
SERVICE = "s.n.svc"
_NOW = dt.datetime.now(dt.UTC)
_DAY = dt.timedelta(days=1)
_USAGES = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH)


def issue(
    name: str,
    issuer: KeyPair | None = None,
    *,
    ca: bool | None = False,
    hosts: Sequence[str] = (HOST, SERVICE),
    end: dt.datetime = _NOW + _DAY,
) -> KeyPair:
    """Return a certificate; self-signed without an `issuer`. `ca` None leaves the basic constraints out."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_NOW - 3 * _DAY)
        .not_valid_after(end)
    )
    if ca is not None:
        builder = builder.add_extension(x509.BasicConstraints(ca, None), critical=True)
    if not ca:
        builder = builder.add_extension(x509.ExtendedKeyUsage(_USAGES), critical=False)
        if hosts:
            names = [_general_name(host) for host in hosts]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return KeyPair(builder.sign(issuer.key if issuer else key, hashes.SHA256()), key)


def _general_name(host: str) -> x509.GeneralName:
    if host[0].isdigit():
        return x509.IPAddress(ipaddress.ip_address(host))
    return x509.DNSName(host)


@dataclass(frozen=True)
class Case:
    """The certificate that one end shows, with its chain, and the bundle that the other end trusts."""

    shown: KeyPair
    bundle: KeyPair
    chain: tuple[KeyPair, ...] = ()

    @property
    def bundle_pem(self) -> str:
        """The bundle as PEM."""
        return self.bundle.certificate_pem().decode()

    @property
    def chain_pem(self) -> bytes:
        """The certificate and its chain as PEM."""
        return b"".join(pair.certificate_pem() for pair in (self.shown, *self.chain))

    def files(self, folder: Path) -> tuple[Path, Path]:
        """Write the certificate with its chain, and its key."""
        certificate, key = folder / "shown.crt", folder / "shown.key"
        certificate.write_bytes(self.chain_pem)
        key.write_bytes(self.shown.key_pem())
        return certificate, key

    def bundle_file(self, folder: Path) -> Path:
        """Write the bundle."""
        file = folder / "bundle.crt"
        file.write_text(self.bundle_pem)
        return file


_ROOT = issue("root", ca=True)
_INTERMEDIATE = issue("intermediate", _ROOT, ca=True)
_LEAF = issue("leaf", _INTERMEDIATE)
_SELF_SIGNED = issue("self-signed")
_PLAIN = issue("plain", ca=None)
_ELSEWHERE = issue("elsewhere", hosts=("127.0.0.2",))
_ELSEWHERE_LEAF = issue("elsewhere", _INTERMEDIATE, hosts=("127.0.0.2",))
_UNNAMED = issue(HOST, hosts=())
_EXPIRED = issue("expired", end=_NOW - _DAY)
_EXPIRED_LEAF = issue("expired leaf", _INTERMEDIATE, end=_NOW - _DAY)

TRUSTED = {
    "the root, with the intermediate shown": Case(_LEAF, _ROOT, (_INTERMEDIATE,)),
    "the intermediate without its root": Case(_LEAF, _INTERMEDIATE),
    "a self-signed certificate that is no CA": Case(_SELF_SIGNED, _SELF_SIGNED),
    "a self-signed certificate without constraints": Case(_PLAIN, _PLAIN),
    "the leaf itself": Case(_LEAF, _LEAF),
    "the leaf itself, with the intermediate shown": Case(_LEAF, _LEAF, (_INTERMEDIATE,)),
}
REFUSED = {
    "another authority": Case(_LEAF, issue("root", ca=True), (_INTERMEDIATE,)),
    "the same name with another key": Case(_SELF_SIGNED, issue("self-signed")),
    "a leaf signed by a leaf": Case(issue("forged", _SELF_SIGNED), _SELF_SIGNED),
    "an expired self-signed certificate": Case(_EXPIRED, _EXPIRED),
    "an expired leaf": Case(_EXPIRED_LEAF, _EXPIRED_LEAF),
}
REFUSED_SERVERS = {
    "a self-signed certificate for another host": Case(_ELSEWHERE, _ELSEWHERE),
    "a leaf for another host": Case(_ELSEWHERE_LEAF, _ELSEWHERE_LEAF),
    "a host that is only the common name": Case(_UNNAMED, _UNNAMED),
}
