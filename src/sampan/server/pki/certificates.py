"""The certificates of an API server: how long they last, what they are called, when they are made anew."""

import datetime
from collections.abc import Sequence

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa

from sampan.core import certificates
from sampan.core.certificates import KeyPair, covers, read_key_pair

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
    """A self-signed certificate authority, good for ten years."""
    return certificates.make_authority(common_name, now, CA_LIFETIME)


def make_serving(ca: KeyPair, hosts: Sequence[str], now: datetime.datetime) -> KeyPair:
    """A serving certificate for these names and addresses."""
    return certificates.make_server_certificate(ca, hosts, now, LEAF_LIFETIME, common_name="kube-apiserver")


def make_client(ca: KeyPair, user: str, groups: Sequence[str], now: datetime.datetime) -> KeyPair:
    """A client certificate: the user is its common name, the groups are its organizations."""
    return certificates.make_client_certificate(ca, user, groups, now, LEAF_LIFETIME)


def make_admin(ca: KeyPair, user: str, groups: Sequence[str], now: datetime.datetime) -> KeyPair:
    """The client certificate of a kubeconfig, with an RSA key: Java's client (fabric8) reads no other one by itself."""
    key = rsa.generate_private_key(65537, 2048)
    return certificates.make_client_certificate(ca, user, groups, now, LEAF_LIFETIME, key=key)


def has_rsa_key(pair: KeyPair) -> bool:
    """Whether any client can read its key."""
    return isinstance(pair.key, rsa.RSAPrivateKey)


def needs_renewal(certificate: x509.Certificate, now: datetime.datetime) -> bool:
    """Whether a certificate is about to end (30 days or less)."""
    return certificate.not_valid_after_utc - now <= RENEW_BEFORE


def signed_by(certificate: x509.Certificate, ca: KeyPair) -> bool:
    """Whether this CA has issued the certificate."""
    return certificates.signed_by(certificate, ca.certificate)
