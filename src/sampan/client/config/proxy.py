"""Proxy for a server from the environment: HTTPS_PROXY, HTTP_PROXY, NO_PROXY.

Source: golang.org/x/net/http/httpproxy/proxy.go, which client-go uses.
"""

import ipaddress
from collections.abc import Mapping

from sampan.http.client.address import ServerAddress

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def proxy_from_environment(environ: Mapping[str, str], address: ServerAddress) -> str:
    """Return the proxy's URL; empty for a direct connection. Loopback addresses never use a proxy."""
    name = "HTTPS_PROXY" if address.secure else "HTTP_PROXY"
    proxy = _either(environ, name)
    if not proxy or not _use_proxy(_either(environ, "NO_PROXY"), address.host, address.port):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _either(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower()) or ""


def _use_proxy(no_proxy: str, host: str, port: int) -> bool:
    host = host.lower().rstrip(".")
    literal = _literal(host)
    if host == "localhost" or (literal is not None and literal.is_loopback):
        return False
    entries = [entry.strip().lower() for entry in no_proxy.split(",")]
    return not any(entry and _matches(entry, host, literal, port) for entry in entries)


def _matches(entry: str, host: str, literal: _Address | None, port: int) -> bool:
    if entry == "*":
        return True
    if "/" in entry:
        return literal is not None and _in_network(literal, entry)
    name, entry_port = _split_port(entry)
    if entry_port and entry_port != str(port):
        return False
    entry_literal = _literal(name)
    if entry_literal is not None:
        return entry_literal == literal
    if name.startswith("*."):
        name = name[1:]
    # `.example.org` matches subdomains, `example.org` also the domain itself.
    return host.endswith(name if name.startswith(".") else f".{name}") or host == name


def _literal(host: str) -> _Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _in_network(literal: _Address, network: str) -> bool:
    try:
        return literal in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def _split_port(entry: str) -> tuple[str, str]:
    if entry.startswith("["):
        name, _, rest = entry[1:].partition("]")
        return name, rest.removeprefix(":")
    if entry.count(":") == 1:
        name, _, port = entry.partition(":")
        return name, port
    return entry, ""
