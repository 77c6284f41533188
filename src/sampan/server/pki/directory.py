"""`ServerCredentials`: the keys and certificates of a server.

They are created on the first start and renewed before they expire. Files in the data directory:

    pki/ca.crt pki/ca.key                the cluster's certificate authority
    pki/apiserver.crt pki/apiserver.key  the serving certificate
    pki/admin.crt pki/admin.key          the administrator's client certificate
    pki/apiserver-kubelet-client.crt     the server's client certificate for kubelets (the key is next to it)
    pki/front-proxy-ca.crt pki/front-proxy-ca.key          the CA of front proxies, which name users in headers
    pki/front-proxy-client.crt pki/front-proxy-client.key  the server's client certificate for extension API servers
    admin.token                          the administrator's bearer token
"""

import datetime
import errno
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sampan.server.pki.certificates import (
    KeyPair,
    covers,
    has_rsa_key,
    make_admin,
    make_ca,
    make_client,
    make_serving,
    needs_renewal,
    read_key_pair,
    signed_by,
)

ADMIN_USER = "admin"
ADMIN_GROUPS = ("system:masters",)
FRONT_PROXY_USER = "front-proxy-client"
KUBELET_CLIENT = "kube-apiserver-kubelet-client"
"""User name of the server as a client of kubelets. Its groups are those of the administrator."""

_AUTHORITIES = {"ca": "apiserver", "front-proxy-ca": "front-proxy-client"}
"""Stems of the files of each CA, and of the first key that is made after them."""


@dataclass(frozen=True, slots=True)
class ServerCredentials:
    """Paths of the credentials, and the content of the kubeconfig."""

    ca_file: Path
    serving_certificate_file: Path
    serving_key_file: Path
    kubelet_certificate_file: Path
    kubelet_key_file: Path
    ca_pem: bytes
    admin: KeyPair
    admin_token: str
    front_proxy_ca_file: Path
    front_proxy_certificate_file: Path
    front_proxy_key_file: Path


def prepare_credentials(
    directory: Path, hosts: Sequence[str], now: datetime.datetime, *, likely: Sequence[str] = ()
) -> ServerCredentials:
    """Read or create the credentials in `directory`. Files have mode 0600.

    The serving certificate must be valid for `hosts`. A new one is also valid for the `likely` hosts, so that it need
    not be replaced soon.

    Raises `OSError`, and `ValueError` if the CA's files are damaged.
    """
    pki = directory / "pki"
    pki.mkdir(parents=True, exist_ok=True, mode=0o700)
    ca = _ca(pki, now, "ca")
    _serving(pki, ca, hosts, now, likely)
    admin = _key_pair(
        pki / "admin",
        lambda pair: has_rsa_key(pair) and _usable(pair, ca, now),
        lambda: make_admin(ca, ADMIN_USER, ADMIN_GROUPS, now),
    )
    _key_pair(
        pki / "apiserver-kubelet-client",
        lambda pair: _usable(pair, ca, now),
        lambda: make_client(ca, KUBELET_CLIENT, ADMIN_GROUPS, now),
    )
    proxies = _ca(pki, now, "front-proxy-ca")
    _key_pair(
        pki / "front-proxy-client",
        lambda pair: _usable(pair, proxies, now),
        lambda: make_client(proxies, FRONT_PROXY_USER, (), now),
    )
    return ServerCredentials(
        pki / "ca.crt",
        pki / "apiserver.crt",
        pki / "apiserver.key",
        pki / "apiserver-kubelet-client.crt",
        pki / "apiserver-kubelet-client.key",
        ca.certificate_pem(),
        admin,
        _admin_token(directory / "admin.token"),
        pki / "front-proxy-ca.crt",
        pki / "front-proxy-client.crt",
        pki / "front-proxy-client.key",
    )


def check_authorities(directory: Path) -> None:
    """Check that a start can use the CAs in `directory`. Writes nothing. Raises `OSError`, `ValueError`."""
    pki = directory / "pki"
    for stem in _AUTHORITIES:
        if _is_made(pki, stem):
            _read_ca(pki / f"{stem}.crt", pki / f"{stem}.key")


def prepare_serving(directory: Path, hosts: Sequence[str], now: datetime.datetime) -> None:
    """Renew the serving certificate if it is not valid for all `hosts`. `prepare_credentials` must have run before.

    Raises `OSError`, `ValueError`.
    """
    pki = directory / "pki"
    _serving(pki, _ca(pki, now, "ca"), hosts, now)


def write_private(path: Path, content: bytes) -> None:
    """Replace a file atomically. Only its owner may read it.

    A full disk does not prevent a start. A file with the same content is not written. If there is no space for a second
    file, the current one is overwritten in place.
    """
    if _is_private(path) and path.read_bytes() == content:
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        if error.errno not in (errno.ENOSPC, errno.EDQUOT) or not _is_private(path):
            raise
        _overwrite(path, content)


def _overwrite(path: Path, content: bytes) -> None:
    with path.open("r+b") as file:
        file.write(content)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _is_private(path: Path) -> bool:
    return path.exists() and not path.stat().st_mode & 0o077


def _ca(pki: Path, now: datetime.datetime, stem: str) -> KeyPair:
    """Read or create a CA. Damaged files are an error, because a new CA would lock out all clients."""
    certificate, key = pki / f"{stem}.crt", pki / f"{stem}.key"
    if _is_made(pki, stem):
        return _read_ca(certificate, key)
    ca = make_ca(f"sampan-{stem}", now)
    write_private(key, ca.key_pem())
    write_private(certificate, ca.certificate_pem())
    return ca


def _is_made(pki: Path, stem: str) -> bool:
    """Return True if a CA was created, even if one of its files is gone.

    The first start writes the CA's key first, and then the key that `_AUTHORITIES` names. If only the CA's key exists,
    that start was interrupted, and the CA can be created again.
    """
    certificate, key, next_key = (pki / name for name in (f"{stem}.crt", f"{stem}.key", f"{_AUTHORITIES[stem]}.key"))
    return certificate.exists() or (key.exists() and next_key.exists())


def _read_ca(certificate: Path, key: Path) -> KeyPair:
    """Read both files. Raises `ValueError` if one is missing or damaged; other `OSError`s pass."""
    try:
        return read_key_pair(certificate.read_bytes(), key.read_bytes())
    except (FileNotFoundError, ValueError) as error:
        fault = f"{error.filename} is missing" if isinstance(error, FileNotFoundError) else error
        files = f"{certificate} and {key}"
        raise ValueError(f"cannot use the CA in {files}: {fault}: put the files of this cluster back") from error


def _serving(pki: Path, ca: KeyPair, hosts: Sequence[str], now: datetime.datetime, likely: Sequence[str] = ()) -> None:
    _key_pair(
        pki / "apiserver",
        lambda pair: _usable(pair, ca, now) and covers(pair.certificate, hosts),
        lambda: make_serving(ca, (*hosts, *likely), now),
    )


def _usable(pair: KeyPair, ca: KeyPair, now: datetime.datetime) -> bool:
    return not needs_renewal(pair.certificate, now) and signed_by(pair.certificate, ca)


def _key_pair(stem: Path, good: Callable[[KeyPair], bool], make: Callable[[], KeyPair]) -> KeyPair:
    certificate, key = stem.with_suffix(".crt"), stem.with_suffix(".key")
    try:
        pair = read_key_pair(certificate.read_bytes(), key.read_bytes())
        if good(pair):
            return pair
    except (FileNotFoundError, ValueError):
        pass
    pair = make()
    write_private(key, pair.key_pem())
    write_private(certificate, pair.certificate_pem())
    return pair


def _admin_token(path: Path) -> str:
    try:
        token = path.read_text().strip()
    except FileNotFoundError:
        token = ""
    if not token:
        token = secrets.token_urlsafe(32)
        write_private(path, token.encode() + b"\n")
    return token
