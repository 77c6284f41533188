"""`free_ports`: ports for servers that a test starts.

They are below the range from which the kernel takes ports for connections and for port 0. So none of these takes one
between the choice and the start of the server, and a test that needs two gets two.
"""

import random
import socket
from contextlib import ExitStack
from typing import Final

_RANGE: Final = range(20_000, 29_000)
"""Below NodePorts too."""
_TRIES: Final = 1000
_draw: Final = random.SystemRandom()
"""Processes of one test run have the same seed elsewhere, but do not draw the same ports."""


def free_ports(number: int) -> list[int]:
    """Return ports of loopback on which nothing listens, each once. Raises `OSError` if there are too few."""
    found = list[int]()
    with ExitStack() as stack:
        for _ in range(_TRIES):
            if len(found) == number:
                return found
            taken = stack.enter_context(socket.socket())
            port = _draw.choice(_RANGE)
            try:
                taken.bind(("127.0.0.1", port))
            except OSError:
                continue
            found.append(port)
    raise OSError(f"{len(found)} of {number} ports are free")


def free_port() -> int:
    """Return one of `free_ports`."""
    return free_ports(1)[0]
