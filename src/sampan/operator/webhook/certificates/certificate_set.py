"""`CertificateSet`: all certificates and keys of a server, and their files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from sampan.core.tls.certificates import KeyPair, PrivateKey, read_key_pair

CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"
BUNDLE: Final = "ca.crt"
AUTHORITY_KEYS: Final = "ca.key"
RETIRED: Final = "retired.crt"

_END_OF_KEY = b"-----END PRIVATE KEY-----\n"


@dataclass(frozen=True, slots=True)
class CertificateSet:
    """Serving certificate, trusted authorities and signers."""

    serving: KeyPair
    authorities: tuple[x509.Certificate, ...]
    """All authorities that clients trust, the oldest first: the caBundle."""
    signers: tuple[KeyPair, ...]
    """Authorities with a private key, the oldest first."""
    retired: tuple[x509.Certificate, ...] = ()
    """Serving certificates that were replaced before they expired: a replica may still use them."""

    @property
    def bundle(self) -> bytes:
        """Return the authorities as PEM."""
        return _pem(self.authorities)

    def files(self) -> dict[str, bytes]:
        """Return the set as files."""
        return {
            CERTIFICATE: self.serving.certificate_pem(),
            KEY: self.serving.key_pem(),
            BUNDLE: self.bundle,
            AUTHORITY_KEYS: b"".join(signer.key_pem() for signer in self.signers),
            RETIRED: _pem(self.retired),
        }


def read_set(files: Mapping[str, bytes]) -> CertificateSet:
    """Return the set in files. Raises `ValueError` if it is incomplete."""
    try:
        serving = read_key_pair(files[CERTIFICATE], files[KEY])
        authorities = tuple(x509.load_pem_x509_certificates(files[BUNDLE]))
        keys = _keys(files[AUTHORITY_KEYS])
    except KeyError as error:
        raise ValueError(f"missing file: {error}") from None
    retired = files.get(RETIRED, b"")
    signers = [
        KeyPair(authority, key)
        for authority in authorities
        for key in keys
        if key.public_key() == authority.public_key()
    ]
    return CertificateSet(
        serving, authorities, tuple(signers), tuple(x509.load_pem_x509_certificates(retired)) if retired else ()
    )


def _keys(pem: bytes) -> list[PrivateKey]:
    keys = []
    for part in pem.split(_END_OF_KEY)[:-1]:
        key = serialization.load_pem_private_key(part + _END_OF_KEY, None)
        if not isinstance(key, PrivateKey):
            raise ValueError("the key must be an elliptic curve key or an RSA key")
        keys.append(key)
    return keys


def _pem(certificates: Sequence[x509.Certificate]) -> bytes:
    return b"".join(each.public_bytes(serialization.Encoding.PEM) for each in certificates)
