"""Certificates and keys of PEM files that a user supplies. An error names the file and what it should contain."""

from collections.abc import Callable
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import load_pem_private_key

T = TypeVar("T")


def certificates_in(content: bytes, file: object) -> list[x509.Certificate]:
    """Return the certificates of a PEM bundle. Raises `ValueError` if there is none, or if one is malformed."""
    return _parsed(content, file, "certificate", x509.load_pem_x509_certificates)


def private_key_in(content: bytes, file: object) -> PrivateKeyTypes:
    """Return the private key of a PEM file without a password. Raises `ValueError`."""
    return _parsed(content, file, "private key", lambda pem: load_pem_private_key(pem, None))


def _parsed(content: bytes, file: object, what: str, parse: Callable[[bytes], T]) -> T:
    try:
        return parse(content)
    except TypeError:
        raise ValueError(f"the {what} in {file} is encrypted: use a file without a password") from None
    except (ValueError, UnsupportedAlgorithm):
        fault = "is empty" if not content.strip() else f"contains no valid {what} in PEM"
        raise ValueError(f"{file} {fault}") from None
