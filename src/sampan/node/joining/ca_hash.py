"""Hashes of the public keys of CAs: a joining node verifies its cluster with one."""

import hashlib
import re
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization

_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")


def ca_hash(certificate: x509.Certificate) -> str:
    """Return the hash of a certificate's public key (SubjectPublicKeyInfo)."""
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    key = certificate.public_key().public_bytes(serialization.Encoding.DER, form)
    return f"sha256:{hashlib.sha256(key).hexdigest()}"


def check_hash(text: str) -> str:
    """Return a hash in lower case. Raises `ValueError`."""
    found = text.lower()
    if _HASH.fullmatch(found) is None:
        raise ValueError(f"{text!r} is not sha256: and 64 hexadecimal digits")
    return found
