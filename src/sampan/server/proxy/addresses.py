"""Checks of the addresses that `proxy` subresources connect to. A forbidden address is an API error.

`core.dial` has the rule. Loopback addresses are forbidden too, unless the settings permit them: for clusters whose Pods
and nodes run on the server's machine.

Source: kubernetes pkg/registry/core/{pod,node}/strategy.go (1.36).
"""

import socket

from sampan.core.addresses import dial
from sampan.core.errors import bad_request


def check_address(text: str, *, allow_loopback: bool) -> str:
    """Return the IP address to connect to. Raises `StatusError` 400."""
    try:
        return dial.check_address(text, allow_loopback=allow_loopback)
    except dial.AddressNotAllowed as error:
        raise bad_request(str(error)) from None


async def resolve(host: str, *, allow_loopback: bool) -> str:
    """Return an address of the host. Raises 400.

    The caller connects to this address, so that a second lookup cannot give another one after the check.
    """
    try:
        return (await dial.resolve(host, allow_loopback=allow_loopback))[0]
    except dial.AddressNotAllowed as error:
        raise bad_request(str(error)) from None
    except socket.gaierror:
        raise bad_request(f"lookup {host}: no such host") from None
