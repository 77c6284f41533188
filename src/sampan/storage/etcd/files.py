"""`check_files`: checks the certificates and the key for etcd before the first connection."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key

T = TypeVar("T")


def check_files(ca: Path | None, certificate: Path | None, key: Path | None) -> None:
    """Raise `ValueError` with the file and its fault."""
    if ca is not None:
        _parsed("--etcd-cafile", ca, "certificate", x509.load_pem_x509_certificates)
    if certificate is not None and key is not None:
        own = certificates(certificate)[0]
        private = _parsed("--etcd-keyfile", key, "private key", lambda content: load_pem_private_key(content, None))
        if own.public_key() != private.public_key():
            raise ValueError(f"--etcd-keyfile {key} is not the key of the certificate in --etcd-certfile {certificate}")


def certificates(path: Path) -> list[x509.Certificate]:
    """Return a client certificate and its chain. Raises `ValueError`."""
    return _parsed("--etcd-certfile", path, "certificate", x509.load_pem_x509_certificates)


def _parsed(option: str, path: Path, what: str, parse: Callable[[bytes], T]) -> T:
    try:
        content = path.read_bytes()
    except OSError as error:
        fault = error.strerror or os.strerror(error.errno or errno.EIO)
        raise ValueError(f"{option}: cannot read {path}: {fault}") from error
    try:
        return parse(content)
    except TypeError:
        raise ValueError(f"{option}: the {what} in {path} is encrypted: use a file without a password") from None
    except (ValueError, UnsupportedAlgorithm):
        fault = "is empty" if not content.strip() else f"contains no valid {what} in PEM"
        raise ValueError(f"{option}: {path} {fault}") from None
