"""`Target`: where a request goes on to, and what changes on the way."""

import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sampan.core.errors import StatusError, service_unavailable
from sampan.http import Endpoint

Failure = Callable[[str], StatusError]
"""The error of an upstream that cannot be reached, or gives no answer; gets the words of the dialler."""


def unreachable(text: str) -> StatusError:
    """What clients of `proxy` subresources are told. Source: apimachinery pkg/util/proxy/transport.go (1.36)."""
    return service_unavailable(f"error trying to reach service: {text}")


@dataclass(frozen=True, slots=True)
class Target:
    """An upstream, and the path there. All of it is the server's own word, but for `path` and `query`."""

    host: str
    port: int
    path: str
    """Percent-encoded; begins with a slash, or is empty: GET is then redirected to the path with a slash."""
    query: str = ""
    """As it stands behind the question mark."""
    tls: ssl.SSLContext | None = None
    """None: plain HTTP."""
    address: str = ""
    """The IP address to connect to, where `host` has been looked up already."""
    authority: str = ""
    """The Host header; empty: the one that the client sent."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers that are set, lower case; they replace what the client sent."""
    lines: Sequence[tuple[str, str]] = ()
    """Further headers, also several of one name, in UTF-8. One that would break the head is left out."""
    removed: frozenset[str] = frozenset()
    """Headers (lower case) that are kept back, besides credentials and those of the connection."""
    prefix: str | None = None
    """The path under which the client sees the root of the upstream: redirects and links in HTML get it put in front,
    and `X-Forwarded-Uri` tells it. None: the upstream's answers are passed on as they are.
    """
    upgrade_only: bool = False
    """400 for requests that ask for no upgrade."""
    failure: Failure = unreachable

    def endpoint(self, timeout_s: float) -> Endpoint:
        """Return the server to connect to. Link-local and similar addresses are refused (`core.dial`)."""
        return Endpoint(self.host, self.port, self.tls, address=self.address, connect_timeout_s=timeout_s)

    @property
    def netloc(self) -> str:
        """Host and port, as in a URL."""
        return _joined(self.host, self.port)

    @property
    def dialled(self) -> str:
        """Host and port of what is connected to."""
        return _joined(self.address or self.host, self.port)

    @property
    def url(self) -> str:
        """For messages."""
        scheme = "https" if self.tls is not None else "http"
        return f"{scheme}://{self.netloc}{self.path}" + (f"?{self.query}" if self.query else "")


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
