"""`check_files`: checks the certificates and the key for etcd before the first connection."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cryptography import x509

from sampan.core.tls.pem import certificates_in, private_key_in

T = TypeVar("T")


def check_files(ca: Path | None, certificate: Path | None, key: Path | None) -> None:
    """Raise `ValueError` with the file and its fault."""
    if ca is not None:
        _parsed("--etcd-cafile", ca, certificates_in)
    if certificate is not None and key is not None:
        own = certificates(certificate)[0]
        private = _parsed("--etcd-keyfile", key, private_key_in)
        if own.public_key() != private.public_key():
            raise ValueError(f"--etcd-keyfile {key} is not the key of the certificate in --etcd-certfile {certificate}")


def certificates(path: Path) -> list[x509.Certificate]:
    """Return a client certificate and its chain. Raises `ValueError`."""
    return _parsed("--etcd-certfile", path, certificates_in)


def _parsed(option: str, path: Path, parse: Callable[[bytes, object], T]) -> T:
    try:
        content = path.read_bytes()
    except OSError as error:
        fault = error.strerror or os.strerror(error.errno or errno.EIO)
        raise ValueError(f"{option}: cannot read {path}: {fault}") from error
    try:
        return parse(content, path)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None
