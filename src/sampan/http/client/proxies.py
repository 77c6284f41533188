"""Connections through a proxy: CONNECT of HTTP, and SOCKS5.

Source: RFC 9110, section 9.3.6; RFC 1928; RFC 1929.
"""

import ipaddress
from base64 import b64encode

from sampan.http.client.address import ProxyAddress
from sampan.http.client.errors import TransportError
from sampan.http.client.handshake import HandshakeFailed, switch_protocol
from sampan.http.tunnel import Tunnel
from sampan.wire.http1 import request_head

_VERSION = 5
_NO_LOGIN, _LOGIN = 0, 2
_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_REFUSALS = {
    1: "general failure",
    2: "not allowed",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
    6: "expired",
    7: "command not supported",
    8: "kind of address not supported",
}


async def open_way(tunnel: Tunnel, proxy: ProxyAddress, host: str, port: int) -> None:
    """Connect `tunnel` to a host through a proxy. Raises `TransportError`."""
    target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        await (_socks(tunnel, proxy, host, port) if proxy.socks else _connect(tunnel, proxy, target))
    except HandshakeFailed as refused:
        raise TransportError(f"proxy {proxy}: it {refused} (target {target})", sent=False) from None


def proxy_authorization(proxy: ProxyAddress) -> str:
    """Return the value of `Proxy-Authorization`; empty if the proxy needs no login."""
    if not proxy.username:
        return ""
    return "Basic " + b64encode(f"{proxy.username}:{proxy.password}".encode()).decode("ascii")


async def _connect(tunnel: Tunnel, proxy: ProxyAddress, target: str) -> None:
    headers = {"host": target}
    if authorization := proxy_authorization(proxy):
        headers["proxy-authorization"] = authorization
    await switch_protocol(tunnel, "CONNECT", request_head("CONNECT", target, headers.items()))


async def _socks(tunnel: Tunnel, proxy: ProxyAddress, host: str, port: int) -> None:
    """Negotiate with a SOCKS5 proxy. The proxy resolves names."""
    login = bool(proxy.username)
    tunnel.write(bytes([_VERSION, 1, _LOGIN if login else _NO_LOGIN]))
    version, method = await _read(tunnel, 2)
    if version != _VERSION:
        raise HandshakeFailed("does not speak SOCKS5")
    if method != (_LOGIN if login else _NO_LOGIN):
        raise HandshakeFailed("refused the credentials" if login else "requires credentials")
    if login:
        name, password = proxy.username.encode()[:255], proxy.password.encode()[:255]
        tunnel.write(bytes([1, len(name)]) + name + bytes([len(password)]) + password)
        if (await _read(tunnel, 2))[1] != 0:
            raise HandshakeFailed("refused the credentials")
    tunnel.write(bytes([_VERSION, _CONNECT, 0]) + _address(host) + port.to_bytes(2, "big"))
    _, code, _, kind, length = await _read(tunnel, 5)
    if code != 0:
        raise HandshakeFailed(f"refused: {_REFUSALS.get(code, f'code {code}')}")
    size = {_IPV4: 4, _IPV6: 16, _NAME: 1 + length}.get(kind)
    if size is None:
        raise HandshakeFailed("replied with an unknown address type")
    await _read(tunnel, size - 1 + 2)


async def _read(tunnel: Tunnel, count: int) -> bytes:
    """Return `count` bytes. Further bytes remain buffered for the next read."""
    received = b""
    while len(received) < count:
        data = await tunnel.read()
        if not data:
            raise HandshakeFailed("closed the connection")
        received += data
    tunnel.unread(received[count:])
    return received[:count]


def _address(host: str) -> bytes:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        name = host.encode("idna")
        return bytes([_NAME, len(name)]) + name
    return bytes([_IPV4 if address.version == 4 else _IPV6]) + address.packed
