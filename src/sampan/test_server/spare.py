"""`Spare`: a process that is ready to become a server, so that an order waits neither for a fork nor for objects.

It has made its cluster, for the ranges of Services of the last order. Then it blocks until the parent passes an order
to it. It ends with the parent.
"""

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from sampan.app.settings.service_ranges import allocators_of
from sampan.app.settings.up import UpSettings
from sampan.registry.builtins import Builtins
from sampan.registry.cluster import Cluster
from sampan.schema.builtin import Definitions
from sampan.server.apiserver import ApiServer
from sampan.storage.memory import MemoryStore
from sampan.test_server.protocol import Order
from sampan.test_server.template import ClusterTemplate


@dataclass(frozen=True, slots=True)
class Spare:
    """The parent's side of a spare process."""

    pid: int
    data: Path
    """Data directory of the server."""
    channel: socket.socket
    ranges: tuple[str, ...]

    def hand_over(self, order: Order, connection: socket.socket, descriptors: list[int]) -> bool:
        """Send an order to the spare process, with the client's connection and the descriptors for output.

        Return False if the process has died.
        """
        with self.channel:
            try:
                data = order.encode()
                sent = socket.send_fds(self.channel, [data], [*descriptors, connection.fileno()])
                self.channel.sendall(data[sent:])
            except OSError:
                return False
        return True

    def end(self) -> None:
        """End the process."""
        self.channel.close()


def made_cluster(template: ClusterTemplate | None, schemas: Definitions, ranges: tuple[str, ...]) -> Cluster:
    """Return a new cluster in memory, with the objects of the template."""
    store = template.store() if template else MemoryStore()
    return Cluster(
        store, allocators=allocators_of(UpSettings(service_cluster_ip_ranges=ranges)), builtins=Builtins(schemas)
    )


def warm_up(schemas: Definitions) -> None:
    """Make a server and drop it. This fills caches, and copies memory that the process shares with its parent."""
    ApiServer(Cluster(MemoryStore(), builtins=Builtins(schemas)), [])


def wait_for_order(channel: socket.socket) -> None:
    """Block until the parent passes an order. Exits when the parent has ended."""
    if not channel.recv(1, socket.MSG_PEEK):
        os._exit(0)
