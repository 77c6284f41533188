"""`Upstreams`: servers for names outside the cluster, from options or a `resolv.conf`."""

import ipaddress
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PORT: Final = 53
UPSTREAMS_MAX: Final = 3
"""Maximum number of upstreams. Source: resolv.conf(5), MAXNS."""
FILE_BYTES_MAX: Final = 65536

_log = logging.getLogger("sampan.dns")


@dataclass(frozen=True, slots=True)
class Nameserver:
    """Address of a DNS server."""

    host: str
    port: int = PORT

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_upstream(text: str) -> Nameserver:
    """Return the server of `ADDRESS`, `ADDRESS:PORT` or `[ADDRESS]:PORT`. Raises `ValueError`."""
    try:
        return Nameserver(str(ipaddress.ip_address(text.strip("[]"))))
    except ValueError:
        host, _, port = text.rpartition(":")
    try:
        address = str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        raise ValueError(f"{text!r} is not ADDRESS or ADDRESS:PORT, as in 192.0.2.53 or [2001:db8::53]:5353") from None
    if not (port.isdecimal() and len(port) <= 5 and 0 < int(port) < 65536):
        raise ValueError(f"{text!r} has no port from 1 to 65535 after the address")
    return Nameserver(address, int(port))


def nameservers(text: str) -> list[Nameserver]:
    """Return the servers of a `resolv.conf`. Malformed lines are ignored."""
    found: dict[Nameserver, None] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2 and words[0] == "nameserver":
            try:
                address = ipaddress.ip_address(words[1])
            except ValueError:
                continue
            found[Nameserver(str(address))] = None
    return list(found)[:UPSTREAMS_MAX]


class Upstreams:
    """Current upstreams. A changed `resolv.conf` is read again. This server itself is never an upstream."""

    def __init__(self, given: tuple[Nameserver, ...], resolv_conf: Path | None, own: frozenset[Nameserver]) -> None:
        self._given, self._path, self._own = given, resolv_conf, own
        self._stamp: object = None
        self._read: list[Nameserver] = []

    def current(self) -> list[Nameserver]:
        """Return the upstreams in their order."""
        if self._given or self._path is None:
            return [each for each in self._given if each not in self._own]
        try:
            status = self._path.stat()
            stamp: object = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError as error:
            stamp = str(error)
        if stamp != self._stamp:
            self._stamp = stamp
            self._read = [each for each in self._load(self._path) if each not in self._own]
        return self._read

    def _load(self, path: Path) -> list[Nameserver]:
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                found = nameservers(file.read(FILE_BYTES_MAX))
        except OSError as error:
            _log.warning("cannot read upstreams; names outside the cluster do not resolve: %s", error)
            return []
        _log.info("upstreams read", extra={"path": str(path), "upstreams": ", ".join(map(str, found)) or "none"})
        return found
