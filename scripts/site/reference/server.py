"""One API server in this process, that is not started: for the kinds and the metrics that a server has."""

from functools import cache

from sampan.storage.memory import MemoryStore
from sampan.testing.servers.logical_server import LogicalServer


@cache
def logical_server() -> LogicalServer:
    """Return the server. Nothing listens, and no task runs."""
    return LogicalServer(MemoryStore())
