"""`CertificateSet`: everything that is kept of certificates, and the files that it is kept in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from sampan.core.certificates import KeyPair, PrivateKey, read_key_pair

CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"
BUNDLE: Final = "ca.crt"
AUTHORITY_KEYS: Final = "ca.key"
RETIRED: Final = "retired.crt"

_END_OF_KEY = b"-----END PRIVATE KEY-----\n"


@dataclass(frozen=True, slots=True)
class CertificateSet:
    """What is shown, what is to be believed, and what signs next."""

    serving: KeyPair
    authorities: tuple[x509.Certificate, ...]
    """All that clients are to believe, the oldest first: the caBundle."""
    signers: tuple[KeyPair, ...]
    """Those of the authorities whose keys are still there, the oldest first."""
    retired: tuple[x509.Certificate, ...] = ()
    """Serving certificates that were replaced before they ended: somebody may still show them."""

    @property
    def bundle(self) -> bytes:
        """The authorities as PEM."""
        return _pem(self.authorities)

    def files(self) -> dict[str, bytes]:
        """The set as files."""
        return {
            CERTIFICATE: self.serving.certificate_pem(),
            KEY: self.serving.key_pem(),
            BUNDLE: self.bundle,
            AUTHORITY_KEYS: b"".join(signer.key_pem() for signer in self.signers),
            RETIRED: _pem(self.retired),
        }


def read_set(files: Mapping[str, bytes]) -> CertificateSet:
    """The set that files hold. Raises `ValueError` when they do not hold a whole one."""
    try:
        serving = read_key_pair(files[CERTIFICATE], files[KEY])
        authorities = tuple(x509.load_pem_x509_certificates(files[BUNDLE]))
        keys = _keys(files[AUTHORITY_KEYS])
    except KeyError as error:
        raise ValueError(f"there is no {error}") from None
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
            raise ValueError("neither an elliptic curve key nor an RSA key")
        keys.append(key)
    return keys


def _pem(certificates: Sequence[x509.Certificate]) -> bytes:
    return b"".join(each.public_bytes(serialization.Encoding.PEM) for each in certificates)
