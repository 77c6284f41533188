"""Addresses that `proxy` subresources connect to, refused as API errors.

`core.dial` has the rule. Loopback is refused as well, unless the settings allow it: where Pods and nodes live on the
server's machine.
Source: kubernetes pkg/registry/core/{pod,node}/strategy.go (1.36).
"""

import socket

from sampan.core import dial
from sampan.core.errors import bad_request


def check_address(text: str, *, allow_loopback: bool) -> str:
    """Return the IP address as it is dialled. Raises `StatusError` 400."""
    try:
        return dial.check_address(text, allow_loopback=allow_loopback)
    except dial.AddressNotAllowed as error:
        raise bad_request(str(error)) from None


async def resolve(host: str, *, allow_loopback: bool) -> str:
    """Return an address of the host: looked up once, so that it cannot change between check and use. Raises 400."""
    try:
        return (await dial.resolve(host, allow_loopback=allow_loopback))[0]
    except dial.AddressNotAllowed as error:
        raise bad_request(str(error)) from None
    except socket.gaierror:
        raise bad_request(f"lookup {host}: no such host") from None
