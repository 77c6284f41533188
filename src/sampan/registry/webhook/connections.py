"""`Connections`: connections to one webhook that are kept for the next call.

Concurrency: everything runs on the event loop. A connection is either in somebody's hands or idle here; at most
`IDLE_MAX` are idle, each for at most `IDLE_S` seconds; those beyond are closed at once.
Source: net/http Transport as client-go sets it up (1.36).
"""

import asyncio
import ssl
from dataclasses import dataclass

from sampan.core.dial import open_connection

IDLE_MAX = 25
IDLE_S = 90.0

Place = tuple[str, int]
"""Host and port that are connected to."""


@dataclass(slots=True, eq=False)
class Connection:
    """An open connection. `reused`: it has served a call before."""

    place: Place
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    reused: bool = False

    @property
    def usable(self) -> bool:
        """Whether the other side has not closed it yet."""
        return not self.reader.at_eof() and not self.writer.transport.is_closing()

    def close(self) -> None:
        """End it at once."""
        self.writer.transport.abort()


class Connections:
    """Opens connections, and keeps those that may be used again."""

    def __init__(self, *, any_address: bool = False) -> None:
        """`any_address`: see `dial.open_connection`."""
        self._any_address = any_address
        self._idle: list[tuple[Connection, asyncio.TimerHandle]] = []

    def __len__(self) -> int:
        """How many are idle."""
        return len(self._idle)

    async def take(
        self, place: Place, tls: ssl.SSLContext | None, server_name: str, *, fresh: bool = False
    ) -> Connection:
        """Return an idle connection, or a new one (always, if `fresh`); `tls` None: without TLS.

        Raises what `open_connection` raises.
        """
        for entry in reversed(self._idle):
            connection, timer = entry
            if connection.place == place and not fresh:
                self._idle.remove(entry)
                timer.cancel()
                if connection.usable:
                    connection.reused = True
                    return connection
                connection.close()
        reader, writer = await open_connection(*place, tls=tls, server_name=server_name, any_address=self._any_address)
        return Connection(place, reader, writer)

    def give_back(self, connection: Connection) -> None:
        """Keep a connection that is between two calls."""
        if len(self._idle) >= IDLE_MAX or not connection.usable:
            connection.close()
            return
        timer = asyncio.get_running_loop().call_later(IDLE_S, self._expire, connection)
        self._idle.append((connection, timer))

    def _expire(self, connection: Connection) -> None:
        self._idle = [entry for entry in self._idle if entry[0] is not connection]
        connection.close()

    def close(self) -> None:
        """Close all that are idle."""
        for connection, timer in self._idle:
            timer.cancel()
            connection.close()
        self._idle.clear()
