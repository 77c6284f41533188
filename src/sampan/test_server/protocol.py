"""Messages between the warm parent and its clients: the programs in the assets, and `sampan test`.

A client connects to the parent's Unix socket and sends one `Order`, with two file descriptors for the output of the
server. The parent forks; from then on the connection belongs to the server. Each message is one line:

| from | line | meaning |
|---|---|---|
| server | `started` | a server exists; the next lines are its own |
| server | `crash` | kill the operator, then send `killed` |
| server | `fired TEXT`, `unfired TEXT` | at the end: a fault that has occurred, or has not |
| server | `exit CODE` | the server has ended |
| client | `stop` | end the server, as SIGTERM does |
| client | `killed` | the operator is dead |

The server ends when the connection does. `programs/` has clients that build the same messages without this module.
"""

import array
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

ORDER_BYTES_MAX: Final = 1 << 20
_LENGTH_BYTES: Final = 8
DEFAULT_LOOPS: Final = "gc,namespace"
"""Control loops of a server for which a client names none."""


@dataclass(frozen=True, slots=True)
class Order:
    """Server that a client requests. `arguments` are options of kube-apiserver."""

    directory: str
    """Working directory of the client: relative paths in the arguments start there."""
    loops: str
    """Control loops; see `sampan.testing.control_loops.sets`."""
    plan: str
    """Plan file with faults; empty: none."""
    storage: str
    """Name of the engine: `memory`, or `etcd` for the server at --etcd-servers."""
    arguments: tuple[str, ...]

    def encode(self) -> bytes:
        """Return the message: its length in decimal, then fields with NUL between them."""
        fields = (self.directory, self.loops, self.plan, self.storage, *self.arguments)
        content = "\0".join(fields).encode("utf-8", "surrogateescape")
        return b"%0*d%b" % (_LENGTH_BYTES, len(content), content)


def decode_order(content: bytes) -> Order:
    """Return the order in a message. Raises `ValueError`."""
    directory, loops, plan, storage, *arguments = content.decode("utf-8", "surrogateescape").split("\0")
    return Order(directory, loops, plan, storage, tuple(arguments))


def send_order(connection: socket.socket, order: Order, descriptors: Sequence[int]) -> None:
    """Send an order with the descriptors of stdout and stderr. Raises `OSError`."""
    data = order.encode()
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    sent = connection.sendmsg([data], rights)
    connection.sendall(data[sent:])


def receive_order(connection: socket.socket, count: int = 2) -> tuple[Order, list[int]]:
    """Receive an order with `count` descriptors. Raises `ValueError` for a malformed one, `OSError`."""
    descriptors = array.array("i")
    data, ancillary, _, _ = connection.recvmsg(1 << 16, socket.CMSG_SPACE(count * descriptors.itemsize))
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    try:
        size = int(data[:_LENGTH_BYTES])
        if not 0 <= size <= ORDER_BYTES_MAX or len(descriptors) != count:
            raise ValueError("malformed order")
        data = data[_LENGTH_BYTES:]
        while len(data) < size:
            more = connection.recv(size - len(data))
            if not more:
                raise ValueError("order ends early")
            data += more
        return decode_order(data), list(descriptors)
    except ValueError:
        for descriptor in descriptors:
            socket.close(descriptor)
        raise
