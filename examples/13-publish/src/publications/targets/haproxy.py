"""Backend of an HAProxy, changed through its runtime socket. The names of its servers begin with their owner.

Servers of the configuration file, and those of other clients, have other names and are never changed.
"""

import asyncio
from contextlib import closing
from pathlib import Path

from publications.targets.target import Entry, Lost, Unavailable


class HaProxy:
    """HAProxy with a runtime socket of level `admin`."""

    has_ports = True

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    async def read(self, name: str, owner: str) -> Entry:
        """Return the servers of an owner. Servers of other owners do not matter."""
        servers = await self._servers(name, owner)
        return Entry(owner, frozenset(f"{each} (maintenance)" if out else each for each, (_, out) in servers.items()))

    async def write(self, name: str, owner: str, before: Entry, addresses: frozenset[str] | None) -> None:
        """Add missing servers, and remove others. Each step can be repeated after a crash.

        A server that is removed gets no new connection. Until its open ones have ended, `Lost` is raised.
        """
        present, desired = await self._servers(name, owner), addresses or frozenset()
        for address in sorted(desired - before.addresses):
            server = present[address][0] if address in present else f"{owner}_{address.replace(':', '_')}"
            if address not in present:
                await self._command(f"add server {name}/{server} {address}")
            await self._command(f"set server {name}/{server} state ready")
        for address in sorted(present.keys() - desired):
            server = present[address][0]
            await self._command(f"set server {name}/{server} state maint")
            await self._command(f"del server {name}/{server}")

    async def _servers(self, backend: str, owner: str) -> dict[str, tuple[str, bool]]:
        """Return name and maintenance (bit 0 of the administrative state) of the owner's servers by address."""
        rows = [line.split() for line in (await self._command(f"show servers state {backend}")).splitlines()[2:]]
        return {
            f"{row[4]}:{row[18]}": (row[3], bool(int(row[6]) & 1))
            for row in rows
            if len(row) > 18 and row[3].startswith(f"{owner}_")
        }

    async def _command(self, line: str) -> str:
        try:
            reader, writer = await asyncio.open_unix_connection(self._socket)
            with closing(writer):
                writer.write(f"{line}\n".encode())
                text = (await asyncio.wait_for(reader.read(), 5)).decode().strip()
        except (OSError, TimeoutError) as error:
            raise Unavailable(f"HAProxy at {self._socket}: {error}", after_s=5) from error
        if "still has" in text:
            raise Lost(f"HAProxy: {text}", after_s=1)
        if text and not text.startswith(("1", "New server", "Server deleted")):
            raise Unavailable(f"HAProxy refuses `{line}`: {text}", after_s=5)
        return text
