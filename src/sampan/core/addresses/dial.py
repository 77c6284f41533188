"""Connections to addresses that objects name: Pods, endpoints, Nodes, Services, webhooks.

The author of such an object chooses where the server connects to. Link-local addresses are refused, because cloud
providers serve credentials at such addresses; so are the unspecified address, multicast and broadcast. The check
applies to the address that is dialled, after the name is resolved, so spelling and DNS cannot avoid it. A name is
refused if any of its addresses is. Addresses of simulated Pods are refused too (`core.simulated_pods`).

Source: Go net.IP.IsGlobalUnicast, kubernetes pkg/proxy/util IsProxyableIP, IsProxyableHostname (1.36).
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator
from typing import Final, TypeVar

from sampan.core.pods.simulated import is_simulated_address, not_dialled

P = TypeVar("P", bound=asyncio.BaseProtocol)
R = TypeVar("R")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

NOT_ALLOWED: Final = "address not allowed"
"""Error message of kube-apiserver."""
_PORT_MAX: Final = 65_535
_BROADCAST: Final = ipaddress.IPv4Address("255.255.255.255")
_WITH_IPV4: Final = (ipaddress.IPv6Network("::/96"), ipaddress.IPv6Network("64:ff9b::/96"))
"""IPv6 addresses whose last 32 bits are an IPv4 address: IPv4-compatible and NAT64."""


class AddressNotAllowed(OSError):
    """Connections to this address are not allowed, or it is none."""


def check_port(port: int) -> None:
    """Raise `AddressNotAllowed` unless this is the number of a port. An EndpointSlice may have any number."""
    if not 0 <= port <= _PORT_MAX:
        raise AddressNotAllowed(f"dial tcp: address {port}: invalid port")


def check_address(text: str, *, allow_loopback: bool = True) -> str:
    """Return an IP address in the form to connect to.

    Raises `AddressNotAllowed`, also if `text` is not an IP address.
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise AddressNotAllowed(NOT_ALLOWED) from None
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            raise AddressNotAllowed(NOT_ALLOWED)
        address = address.ipv4_mapped or address
    dialled = (address, *_embedded(address))
    if any(is_simulated_address(each) for each in dialled):
        raise AddressNotAllowed(not_dialled(f"the pod at {address}"))
    if not all(_is_allowed(each, allow_loopback=allow_loopback) for each in dialled):
        raise AddressNotAllowed(NOT_ALLOWED)
    return str(address)


async def resolve(host: str, *, allow_loopback: bool = True) -> list[str]:
    """Return the IP addresses of a host, at least one. Raises `AddressNotAllowed` or `socket.gaierror`."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        return [check_address(host, allow_loopback=allow_loopback)]
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise socket.gaierror(socket.EAI_NONAME, str(error)) from None
    if not found:
        raise socket.gaierror(socket.EAI_NONAME, "no addresses for hostname")
    addresses = dict.fromkeys(str(entry[4][0]) for entry in found)
    return [check_address(address, allow_loopback=allow_loopback) for address in addresses]


async def create_connection(
    make: Callable[[], P],
    host: str,
    port: int,
    *,
    tls: ssl.SSLContext | None = None,
    server_name: str = "",
    any_address: bool = False,
) -> P:
    """Connect a new protocol. With `tls`, the certificate must be valid for `server_name`, or `host` if that is empty.

    `any_address` allows all addresses; set it only if a setting names the host, not an object. Raises `OSError`:
    `AddressNotAllowed`, `socket.gaierror`, `ssl.SSLError` or another error of the socket.
    """
    check_port(port)
    loop = asyncio.get_running_loop()
    name = (server_name or host) if tls is not None else None
    if any_address:
        _, protocol = await loop.create_connection(make, host, port, ssl=tls, server_hostname=name)
        return protocol

    async def attempt(address: str) -> P:
        _, protocol = await loop.create_connection(make, address, port, ssl=tls, server_hostname=name)
        return protocol

    return await _first(await resolve(host), attempt)


async def open_connection(
    host: str,
    port: int,
    *,
    tls: ssl.SSLContext | None = None,
    server_name: str = "",
    any_address: bool = False,
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a host and return the pair of streams. The parameters are those of `create_connection`."""
    check_port(port)
    name = (server_name or host) if tls is not None else None
    if any_address:
        return await asyncio.open_connection(host, port, ssl=tls, server_hostname=name)

    async def attempt(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(address, port, ssl=tls, server_hostname=name)

    return await _first(await resolve(host), attempt)


async def _first(addresses: list[str], attempt: Callable[[str], Awaitable[R]]) -> R:
    """Try the addresses in order. After a TLS error the next address is not tried, because the server was reached."""
    for address in addresses[:-1]:
        try:
            return await attempt(address)
        except ssl.SSLError:
            raise
        except OSError:
            continue
    return await attempt(addresses[-1])


def _is_allowed(address: Address, *, allow_loopback: bool) -> bool:
    if address.is_unspecified or address.is_multicast or address.is_link_local or address == _BROADCAST:
        return False
    return allow_loopback or not address.is_loopback


def _embedded(address: Address) -> Iterator[Address]:
    """Yield the IPv4 addresses to which NAT64 and 6to4 gateways forward packets for this address."""
    if isinstance(address, ipaddress.IPv4Address) or address.is_loopback:
        return
    if address.sixtofour is not None:
        yield address.sixtofour
    if any(address in network for network in _WITH_IPV4):
        yield ipaddress.IPv4Address(address.packed[-4:])
