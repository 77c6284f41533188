"""`PortLinks`: paths with a secret, below which a browser reaches one port of a Pod or a Service.

Guarantees: a link ends with its session, after `VALID_S`, and with too many newer ones. Everything that it carries
ends then. The secret is stored as a digest only.

Concurrency: `run` ends links in time; everything else happens on the event loop.
"""

import asyncio
import hashlib
import secrets
from dataclasses import dataclass
from typing import Final, Literal

from sampan.core.clock import unix_time
from sampan.server.dashboard.login_limit import network_of
from sampan.server.dashboard.sessions import SWEEP_INTERVAL_S, Ending, Session
from sampan.server.secret_paths import PORT_LINKS

VALID_S: Final = 14_400.0
"""Longest time of a link, in seconds."""
LINKS_OF_SESSION_MAX: Final = 16
"""Maximum number of links of a session. The next one ends the oldest."""


@dataclass(frozen=True, slots=True)
class LinkedPort:
    """Port of a Pod or a Service."""

    namespace: str
    resource: Literal["pods", "services"]
    name: str
    number: int
    scheme: Literal["http", "https"] = "http"

    @property
    def path(self) -> str:
        """Return the path of the subresource `proxy` for this port."""
        return f"/api/v1/namespaces/{self.namespace}/{self.resource}/{self.scheme}:{self.name}:{self.number}/proxy"


class PortLink(Ending):
    """Link to one port, for one session and one network address."""

    __slots__ = ("expires", "network", "port", "release", "session")

    def __init__(self, session: Session, port: LinkedPort, address: str) -> None:
        super().__init__()
        self.session = session
        self.port = port
        self.network = network_of(address)
        self.expires = unix_time() + VALID_S
        self.release = session.hold(self.end)

    @property
    def is_over(self) -> bool:
        """Return True if the link is no longer valid."""
        return self.ended or unix_time() >= self.expires


class PortLinks:
    """Links of all sessions of a server."""

    def __init__(self) -> None:
        self._by_digest: dict[bytes, PortLink] = {}

    def __len__(self) -> int:
        return len(self._by_digest)

    def create(self, session: Session, port: LinkedPort, address: str) -> tuple[str, PortLink]:
        """Return the path of a new link, which ends with a slash, and the link. `address` is that of the client."""
        self.sweep()
        own = [each for each in self._by_digest.values() if each.session is session]
        for link in own[: max(0, len(own) + 1 - LINKS_OF_SESSION_MAX)]:
            _end(link)
        secret, link = secrets.token_urlsafe(32), PortLink(session, port, address)
        self._by_digest[_digest(secret)] = link
        self.sweep()
        return f"{PORT_LINKS}{secret}/", link

    def find(self, secret: str, address: str) -> PortLink | None:
        """Return the link of a secret, if it is valid for a client with this address."""
        link = self._by_digest.get(_digest(secret))
        return None if link is None or link.is_over or link.network != network_of(address) else link

    async def run(self) -> None:
        """End links in time until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_INTERVAL_S)
            self.sweep()

    def sweep(self) -> None:
        """End and forget the links whose time is over."""
        for link in [each for each in self._by_digest.values() if each.is_over]:
            _end(link)
        self._by_digest = {digest: each for digest, each in self._by_digest.items() if not each.ended}


def _end(link: PortLink) -> None:
    link.release()
    link.end()


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
