"""Which addresses a client may make the server connect to.

A Pod's or a Node's address is what its status says, and whoever writes that could point it at the server's own machine
or at a cloud's metadata service; so only global unicast addresses (private networks among them) are allowed. Where
Pods and nodes live on the server's machine, loopback addresses are too, if the settings say so.
Source: Go net.IP.IsGlobalUnicast, kubernetes pkg/registry/core/{pod,node}/strategy.go (1.36).
"""

import asyncio
import ipaddress
import socket

from sampan.core.errors import bad_request

NOT_ALLOWED = "address not allowed"
_BROADCAST = ipaddress.IPv4Address("255.255.255.255")


def check_address(text: str, *, allow_loopback: bool) -> str:
    """The IP address as it is dialled. Raises `StatusError` 400."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise bad_request(NOT_ALLOWED) from None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        raise bad_request(NOT_ALLOWED)
    if address.is_unspecified or address.is_multicast or address.is_link_local or address == _BROADCAST:
        raise bad_request(NOT_ALLOWED)
    if address.is_loopback and not allow_loopback:
        raise bad_request(NOT_ALLOWED)
    return str(address)


async def resolve(host: str, *, allow_loopback: bool) -> str:
    """The address of a host: looked up once, so that it cannot change between check and use. Raises 400."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        return check_address(host, allow_loopback=allow_loopback)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise bad_request(f"lookup {host}: no such host") from None
    if not found:
        raise bad_request("no addresses for hostname")
    addresses = [check_address(str(entry[4][0]), allow_loopback=allow_loopback) for entry in found]
    return addresses[0]
