"""`ProxyTarget`: destination of a forwarded request, and the changes to the request."""

import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sampan.core.errors import StatusError, service_unavailable
from sampan.http.client import Upstream
from sampan.http.client.dial import Way

Failure = Callable[[str], StatusError]
"""Function that returns the error for an upstream that cannot be reached or does not respond, from the dial error."""


def unreachable(text: str) -> StatusError:
    """Return the error for clients of `proxy` subresources. Source: apimachinery pkg/util/proxy/transport.go (1.36)."""
    return service_unavailable(f"error trying to reach service: {text}")


ALTERNATIVES_MAX: Final = 2
_ALTERNATIVES_TIMEOUT_S: Final = 3.0
"""Time in which an endpoint must accept a connection, if there is another one."""


class TargetAddress(NamedTuple):
    """Address that serves the same as that of a target."""

    address: str
    port: int
    way: Way | None = None


@dataclass(frozen=True, slots=True)
class ProxyTarget:
    """Upstream and path. Only `path` and `query` come from the client; the server sets the rest."""

    host: str
    port: int
    path: str
    """Percent-encoded path that begins with a slash. If it is empty, GET is redirected to the path with a slash."""
    query: str = ""
    """Query string, without the question mark."""
    tls: ssl.SSLContext | None = None
    """TLS context, or None for plain HTTP."""
    address: str = ""
    """IP address to connect to, if `host` was already resolved."""
    authority: str = ""
    """Host header. If empty, that of the client is forwarded."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers to set, in lower case. They replace those of the client."""
    lines: Sequence[tuple[str, str]] = ()
    """Additional headers in UTF-8, which may repeat a name. Headers that would break the head are dropped."""
    removed: frozenset[str] = frozenset()
    """Headers (lower case) to drop, besides credentials and hop-by-hop headers."""
    prefix: str | None = None
    """Path under which the client sees the root of the upstream.

    It is the prefix of rewritten redirects and HTML links, and is sent in `X-Forwarded-Uri`. None: responses are
    forwarded unchanged.
    """
    upgrade_only: bool = False
    """True to refuse requests without an upgrade, with 400."""
    failure: Failure = unreachable
    way: Way | None = None
    """Way to the address, such as the tunnel of its node."""
    alternatives: Sequence[TargetAddress] = ()
    """Endpoints to try if the address accepts no connection."""

    def endpoints(self, timeout_s: float) -> Sequence[Upstream]:
        """Return the servers to connect to, the first one that accepts a connection is used.

        Link-local and similar addresses are refused (`core.dial`).
        """
        found = [TargetAddress(self.address, self.port, self.way), *self.alternatives[:ALTERNATIVES_MAX]]
        return [
            Upstream(
                self.host,
                each.port,
                self.tls,
                address=each.address,
                connect_timeout_s=timeout_s if number == len(found) else min(timeout_s, _ALTERNATIVES_TIMEOUT_S),
                way=each.way,
            )
            for number, each in enumerate(found, 1)
        ]

    @property
    def netloc(self) -> str:
        """Return host and port, as in a URL."""
        return _joined(self.host, self.port)

    @property
    def dialled(self) -> str:
        """Return host and port of the connection."""
        return _joined(self.address or self.host, self.port)

    @property
    def url(self) -> str:
        """Return the URL, for messages."""
        scheme = "https" if self.tls is not None else "http"
        return f"{scheme}://{self.netloc}{self.path}" + (f"?{self.query}" if self.query else "")


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
