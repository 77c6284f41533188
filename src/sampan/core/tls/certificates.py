"""Create X.509 certificates: a certificate authority, and certificates signed by it. New keys are ECDSA P-256."""

import base64
import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sampan.core.tls.pem import certificates_in, private_key_in

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

BACKDATE = datetime.timedelta(minutes=5)
"""Time by which `notBefore` precedes the creation, for clients with slow clocks."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Certificate and its private key."""

    certificate: x509.Certificate
    key: PrivateKey

    def certificate_pem(self) -> bytes:
        """Return the certificate in PEM, without those of its issuers."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def key_pem(self) -> bytes:
        """Return the key in PEM, not encrypted: PKCS #8, or PKCS #1 for RSA, as in kubeadm."""
        is_rsa = isinstance(self.key, rsa.RSAPrivateKey)
        form = serialization.PrivateFormat.TraditionalOpenSSL if is_rsa else serialization.PrivateFormat.PKCS8
        return self.key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def read_key_pair(certificate_pem: bytes, key_pem: bytes) -> KeyPair:
    """Load a certificate and its key.

    Raises `ValueError` if one is malformed or of an unsupported type, or if they do not belong together.
    """
    certificate = certificates_in(certificate_pem, "the certificate file")[0]
    key = private_key_in(key_pem, "the key file")
    if not isinstance(key, PrivateKey):
        raise ValueError("neither an elliptic curve key nor an RSA key")
    if key.public_key() != certificate.public_key():
        raise ValueError("certificate and key do not belong together")
    return KeyPair(certificate, key)


def make_authority(common_name: str, now: datetime.datetime, lifetime: datetime.timedelta) -> KeyPair:
    """Create a self-signed certificate authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    builder = (
        _builder(name, name, key, now, lifetime)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_key_usage(ca=True), critical=True)
    )
    return KeyPair(builder.sign(key, hashes.SHA256()), key)


def make_server_certificate(
    ca: KeyPair, hosts: Sequence[str], now: datetime.datetime, lifetime: datetime.timedelta, *, common_name: str
) -> KeyPair:
    """Create a serving certificate for these host names and addresses."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    builder = _leaf(ca, _builder(name, ca.certificate.subject, key, now, lifetime), ExtendedKeyUsageOID.SERVER_AUTH)
    builder = builder.add_extension(x509.SubjectAlternativeName([_general_name(h) for h in hosts]), critical=False)
    return KeyPair(builder.sign(ca.key, hashes.SHA256()), key)


def make_client_certificate(
    ca: KeyPair,
    user: str,
    groups: Sequence[str],
    now: datetime.datetime,
    lifetime: datetime.timedelta,
    *,
    key: PrivateKey | None = None,
) -> KeyPair:
    """Create a client certificate.

    The user is its common name, the groups are its organizations. Without `key`, a new key is generated.
    """
    key = key or ec.generate_private_key(ec.SECP256R1())
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    name = x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, user)])
    builder = _leaf(ca, _builder(name, ca.certificate.subject, key, now, lifetime), ExtendedKeyUsageOID.CLIENT_AUTH)
    return KeyPair(builder.sign(ca.key, hashes.SHA256()), key)


@dataclass(frozen=True, slots=True)
class Subject:
    """Subject of a certificate request."""

    common_name: str
    organizations: tuple[str, ...]


def requested_subject(request: str) -> Subject:
    """Return the subject of a certificate request: PEM in base64, as in CertificateSigningRequest.

    Raises `ValueError`.
    """
    pem = base64.b64decode(request)
    if b"-----BEGIN CERTIFICATE REQUEST-----" not in pem:
        raise ValueError("PEM block type must be CERTIFICATE REQUEST")
    name = x509.load_pem_x509_csr(pem).subject
    names = [str(each.value) for each in name.get_attributes_for_oid(NameOID.COMMON_NAME)]
    organizations = name.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return Subject(names[-1] if names else "", tuple(str(each.value) for each in organizations))


def signed_by(certificate: x509.Certificate, ca: x509.Certificate) -> bool:
    """Report whether this authority issued the certificate."""
    try:
        certificate.verify_directly_issued_by(ca)
    except Exception:
        return False
    return True


def covers(certificate: x509.Certificate, hosts: Sequence[str]) -> bool:
    """Report whether a serving certificate is valid for all these hosts."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return False
    return {_general_name(host) for host in hosts} <= set(names)


def _leaf(ca: KeyPair, builder: x509.CertificateBuilder, usage: x509.ObjectIdentifier) -> x509.CertificateBuilder:
    return (
        builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(ca=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.key.public_key()), critical=False)
    )


def _builder(
    name: x509.Name,
    issuer: x509.Name,
    key: PrivateKey,
    now: datetime.datetime,
    lifetime: datetime.timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATE)
        .not_valid_after(now + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _key_usage(*, ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=ca,
        crl_sign=ca,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
