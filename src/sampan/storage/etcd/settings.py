"""`EtcdSettings`: where etcd is, and how long it is waited for."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sampan.storage.etcd.files import check_files

PREFIX = "/registry"
"""What keys begin with, for those who use the store; what they begin with in etcd is a setting."""


@dataclass(frozen=True, slots=True)
class EtcdSettings:
    """The settings of one store. Raises `ValueError` for what cannot be."""

    servers: tuple[str, ...] = ("http://127.0.0.1:2379",)
    """URLs of endpoints of one cluster: http or https, host and port."""
    prefix: str = PREFIX
    """What keys begin with in etcd, in the place of `/registry`."""
    ca_file: Path | None = None
    """Who signs the servers' certificates; None: whoever the system trusts."""
    cert_file: Path | None = None
    key_file: Path | None = None
    """What etcd is shown; both or none."""
    writes: bool = True
    """Whether it is to write: then others get to know of it when it is opened, not only with its first write."""
    always_ask: bool = False
    """Whether there are others who write and are not seen to."""
    entry_wait_s: float = 0.3
    """How long a store is there before it writes. The same for all stores of one prefix."""
    attempt_s: float = 2.0
    """How long one endpoint may take for one call, before another one is asked."""
    total_s: float = 5.0
    """How long a call may take with all its attempts. An election takes one to two seconds."""
    keepalive_s: float = 10.0
    """After how much silence an endpoint is pinged. etcd refuses more than one ping in 5 s."""
    keepalive_timeout_s: float = 3.0
    """How long the answer to a ping may take before the connection is given up."""

    @property
    def hold_s(self) -> float:
        """How long a store trusts that only those write whom it saw: less, as clocks differ in speed."""
        return 0.0 if self.always_ask else 0.8 * self.entry_wait_s

    def __post_init__(self) -> None:
        if not self.servers:
            raise ValueError("no etcd servers")
        for server in self.servers:
            _check_url(server)
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("--etcd-certfile and --etcd-keyfile belong together")
        check_files(self.ca_file, self.cert_file, self.key_file)
        if not self.prefix.startswith("/") or self.prefix.endswith("/"):
            raise ValueError(f"the prefix of keys in etcd is {self.prefix!r}: it begins with a slash and ends in none")


def _check_url(server: str) -> None:
    try:
        parts = urlsplit(server)
        port = parts.port
    except ValueError as error:  # a port that is none, an address in brackets that is none
        raise ValueError(f"{server!r} is not the URL of an etcd server: {error}") from error
    if parts.username is not None:
        raise ValueError("the URL of an etcd server has a user in it: etcd is shown a client certificate, no password")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise ValueError(f"{server!r} is not the URL of an etcd server: http(s)://HOST:PORT")
    if not port:
        raise ValueError(f"{server!r} has no port")
