"""`ServerAddress` and `ProxyAddress`: parsed URLs of servers and proxies."""

from dataclasses import dataclass
from urllib.parse import SplitResult, unquote

from sampan.core.addresses.url import split_url

_DEFAULT_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Address of a server: scheme `http` or `https`, host, port, and a path prefix for every target."""

    scheme: str
    host: str
    port: int
    prefix: str = ""
    """Path before every target, without a slash at its end, for a server behind a gateway."""

    @classmethod
    def parse(cls, url: str) -> "ServerAddress":
        """Return the address in a URL. Raises `ValueError`."""
        parts = _split(url, ("http", "https"))
        return cls(parts.scheme, parts.hostname or "", _port(parts), parts.path.rstrip("/"))

    @property
    def secure(self) -> bool:
        """True if the connection is encrypted with TLS."""
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """Host and port as in a URL and in `Host`, without the scheme's default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.prefix}"


@dataclass(frozen=True, slots=True)
class ProxyAddress:
    """Address of a proxy and the credentials for it.

    The scheme is `http`, `https`, `socks5` or `socks5h`. The last two are equal: the proxy resolves names.
    """

    scheme: str
    host: str
    port: int
    username: str = ""
    password: str = ""

    @classmethod
    def parse(cls, url: str) -> "ProxyAddress":
        """Return the proxy of a URL such as `http://user:password@proxy:3128`. Raises `ValueError`."""
        parts = _split(url, ("http", "https", "socks5", "socks5h"))
        return cls(
            parts.scheme,
            parts.hostname or "",
            _port(parts),
            unquote(parts.username or ""),
            unquote(parts.password or ""),
        )

    @property
    def socks(self) -> bool:
        """True for SOCKS5, False for HTTP."""
        return self.scheme.startswith("socks5")

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    def __repr__(self) -> str:
        return f"ProxyAddress({self!s})"


def _split(url: str, schemes: tuple[str, ...]) -> SplitResult:
    parts = split_url(url)
    if parts.scheme not in schemes:
        raise ValueError(f"{url!r} must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}")
    if not parts.hostname:
        raise ValueError(f"{url!r} has no host")
    return parts


def _port(parts: SplitResult) -> int:
    return parts.port or _DEFAULT_PORTS[parts.scheme]
