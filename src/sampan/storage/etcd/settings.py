"""`EtcdSettings`: endpoints, credentials and timeouts of etcd."""

from dataclasses import dataclass
from pathlib import Path

from sampan.core.addresses.url import split_url
from sampan.core.settings import setting
from sampan.core.settings.kinds import EXISTING_FILE, TEXT, list_of
from sampan.storage.etcd.files import check_files

PREFIX = "/registry"
"""Prefix of all keys of the store. Their prefix in etcd is a setting."""


@dataclass(frozen=True, slots=True)
class EtcdSettings:
    """Settings of one store. Raises `ValueError` with the option that is wrong."""

    servers: tuple[str, ...] = setting(
        ("http://127.0.0.1:2379",),
        "Endpoints of one etcd cluster, with commas between them: http or https, host and port.",
        kind=list_of(TEXT, metavar="URLS"),
    )
    prefix: str = setting(
        PREFIX, "Prefix of all keys in etcd. Servers of one cluster have the same. It begins with a slash."
    )
    ca_file: Path | None = setting(
        None,
        "CA certificates for the certificates of etcd's servers.",
        name="cafile",
        kind=EXISTING_FILE,
        default="those of the system",
    )
    cert_file: Path | None = setting(
        None, "Client certificate for etcd. Needs --etcd-keyfile.", name="certfile", kind=EXISTING_FILE
    )
    key_file: Path | None = setting(None, "Key of --etcd-certfile.", name="keyfile", kind=EXISTING_FILE)
    attempt_s: float = 2.0
    """Deadline of one attempt, in seconds; the next attempt goes to another endpoint."""
    total_s: float = 5.0
    """Deadline of a call with all its attempts, in seconds. An election takes one to two seconds."""
    keepalive_s: float = 10.0
    """Silence in seconds after which an endpoint is pinged. etcd refuses more than one ping in 5 s."""
    keepalive_timeout_s: float = 3.0
    """Seconds without a response to a ping after which the connection is closed."""

    def __post_init__(self) -> None:
        if not self.servers:
            raise ValueError("no etcd servers")
        for server in self.servers:
            _check_url(server)
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("--etcd-certfile and --etcd-keyfile must be given together")
        check_files(self.ca_file, self.cert_file, self.key_file)
        if not self.prefix.startswith("/") or self.prefix.endswith("/"):
            raise ValueError(f"--etcd-prefix {self.prefix!r} must begin with a slash and not end with one")


def _check_url(server: str) -> None:
    try:
        parts = split_url(server)
        port = parts.port
    except ValueError as error:  # an invalid port, or an invalid address in brackets
        raise ValueError(f"{server!r} is not the URL of an etcd server: {error}") from error
    if parts.username is not None:
        raise ValueError("the URL of an etcd server contains a user; use --etcd-certfile and --etcd-keyfile instead")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise ValueError(f"{server!r} is not the URL of an etcd server: http(s)://HOST:PORT")
    if not port:
        raise ValueError(f"{server!r} has no port")
