"""Certificates of an API server: their lifetimes, names and renewal."""

import datetime
from collections.abc import Sequence

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa

from sampan.core.tls import certificates
from sampan.core.tls.certificates import KeyPair, covers, read_key_pair

__all__ = [
    "KeyPair",
    "covers",
    "has_rsa_key",
    "make_admin",
    "make_ca",
    "make_client",
    "make_serving",
    "needs_renewal",
    "read_key_pair",
    "signed_by",
]

CA_LIFETIME = datetime.timedelta(days=3650)
LEAF_LIFETIME = datetime.timedelta(days=365)
RENEW_BEFORE = datetime.timedelta(days=30)


def make_ca(common_name: str, now: datetime.datetime) -> KeyPair:
    """Create a self-signed certificate authority, valid for ten years."""
    return certificates.make_authority(common_name, now, CA_LIFETIME)


def make_serving(ca: KeyPair, hosts: Sequence[str], now: datetime.datetime) -> KeyPair:
    """Create a serving certificate for these names and addresses."""
    return certificates.make_server_certificate(ca, hosts, now, LEAF_LIFETIME, common_name="kube-apiserver")


def make_client(ca: KeyPair, user: str, groups: Sequence[str], now: datetime.datetime) -> KeyPair:
    """Create a client certificate with the user as common name and the groups as organizations."""
    return certificates.make_client_certificate(ca, user, groups, now, LEAF_LIFETIME)


def make_admin(ca: KeyPair, user: str, groups: Sequence[str], now: datetime.datetime) -> KeyPair:
    """Create the client certificate of a kubeconfig. Its key is RSA: the Java client fabric8 supports no other type by
    default.
    """
    key = rsa.generate_private_key(65537, 2048)
    return certificates.make_client_certificate(ca, user, groups, now, LEAF_LIFETIME, key=key)


def has_rsa_key(pair: KeyPair) -> bool:
    """Return True if the key is RSA, which all clients can read."""
    return isinstance(pair.key, rsa.RSAPrivateKey)


def needs_renewal(certificate: x509.Certificate, now: datetime.datetime) -> bool:
    """Return True if a certificate expires in 30 days or less."""
    return certificate.not_valid_after_utc - now <= RENEW_BEFORE


def signed_by(certificate: x509.Certificate, ca: KeyPair) -> bool:
    """Return True if this CA issued the certificate."""
    return certificates.signed_by(certificate, ca.certificate)
