"""Connections to ports of containers, which listen in the machine's network."""

import os
from collections.abc import Sequence

from sampan.core.addresses.dial import open_connection
from sampan.node.sessions import Connection


async def connect(addresses: Sequence[str], port: int) -> Connection:
    """Connect to the first address that accepts. Raises an `OSError` that lists the attempts."""
    last: OSError | None = None
    for address in dict.fromkeys(addresses):
        try:
            return await open_connection(address, port)
        except OSError as error:
            last = error
    number = last.errno or 0 if last is not None else 0
    tried = " and ".join(dict.fromkeys(addresses))
    why = os.strerror(number).lower() if number else str(last)
    raise type(last or OSError())(number, f"failed to connect to port {port} at {tried}: {why}") from last
