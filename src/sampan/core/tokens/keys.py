"""Keys of service account tokens: one key that signs, any number of keys that verify.

Source: kubernetes pkg/serviceaccount/jwt.go, client-go util/keyutil/key.go (1.36).
"""

import base64
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

_CURVES = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """Public key with its ID and algorithm in JWTs."""

    key: PublicKey
    key_id: str
    algorithm: str


@dataclass(frozen=True, slots=True)
class SigningKey:
    """Private key, and the key that verifies its signatures."""

    key: PrivateKey
    verifying: VerifyingKey

    def pem(self) -> bytes:
        """Return the private key, not encrypted, as PKCS #1 or SEC 1. kube-apiserver supports no other form."""
        form = serialization.PrivateFormat.TraditionalOpenSSL
        return self.key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())

    def public_pem(self) -> bytes:
        """Return the public key in PEM, as SubjectPublicKeyInfo."""
        info = serialization.PublicFormat.SubjectPublicKeyInfo
        return self.verifying.key.public_bytes(serialization.Encoding.PEM, info)


def make_signing_key() -> SigningKey:
    """Generate an ECDSA P-256 key."""
    return _signing(ec.generate_private_key(ec.SECP256R1()))


def read_signing_key(pem: bytes) -> SigningKey:
    """Load a private key that can sign tokens: RSA, or ECDSA on one of three curves. Raises `ValueError`."""
    try:
        key = serialization.load_pem_private_key(pem, None)
    except TypeError:
        raise ValueError("the private key is encrypted") from None
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError("no valid RSA or ECDSA private key in PEM") from None
    return _signing(key)


def read_verifying_keys(file: Path) -> list[VerifyingKey]:
    """Load the public keys of a file, including those of its certificates and private keys.

    Raises `OSError`, or `ValueError` if the file contains no key.
    """
    try:
        found = [_verifying(_public(match[0], match[1].decode())) for match in _BLOCK.finditer(file.read_bytes())]
    except UnsupportedAlgorithm as error:
        raise ValueError(f"{file}: {error}") from error
    if not found:
        raise ValueError(f"{file}: data does not contain any valid RSA or ECDSA public keys")
    return found


def _public(block: bytes, kind: str) -> object:
    if kind.endswith("PRIVATE KEY"):
        return read_signing_key(block).verifying.key
    try:
        if kind == "CERTIFICATE":
            return x509.load_pem_x509_certificate(block).public_key()
        return serialization.load_pem_public_key(block)
    except ValueError:
        raise ValueError(f"the block {kind} is no valid PEM") from None


def _signing(key: object) -> SigningKey:
    if isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
        return SigningKey(key, _verifying(key.public_key()))
    raise ValueError("unknown private key type, must be RSA or ECDSA")


def _verifying(key: object) -> VerifyingKey:
    if isinstance(key, rsa.RSAPublicKey):
        return VerifyingKey(key, _key_id(key), "RS256")
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise ValueError("unknown public key type, must be RSA or ECDSA")
    algorithm = _CURVES.get(key.curve.name)
    if algorithm is None:
        raise ValueError("unknown private key curve, must be 256, 384, or 521")
    return VerifyingKey(key, _key_id(key), algorithm)


def _key_id(key: PublicKey) -> str:
    """Return the key ID: a digest of the public key."""
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return base64.urlsafe_b64encode(hashlib.sha256(der).digest()).rstrip(b"=").decode()
