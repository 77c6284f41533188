"""Targets in memory, with faults and limits as real servers have them."""

import asyncio
from typing import Any

from sampan.testing.faults import external

from publications.targets.target import Busy, Entry, Lost, Unavailable


def down(text: str) -> Exception:
    """Return the error of a server that cannot be reached."""
    return Unavailable(text, after_s=5)


class Zone:
    """DNS zone in memory. Each change is checked and made at once."""

    has_ports = False

    def __init__(self) -> None:
        self.records: dict[str, Entry] = {}
        self.requests: list[tuple[float, str]] = []
        self.busy_until = 0.0
        self.written: list[tuple[str, frozenset[str], frozenset[str]]] = []

    @external("read", failure=down)
    async def read(self, name: str, owner: str) -> Entry:
        """Return the records of a name."""
        self._limit("read")
        return self.records.get(name, Entry("", frozenset(), is_free=True))

    @external("write", failure=down)
    async def write(self, name: str, owner: str, before: Entry, addresses: frozenset[str] | None) -> None:
        """Change the records, if they are still those that were read."""
        self._limit("write")
        found = self.records.get(name)
        if (found is None) != before.is_free or (found is not None and found.owner != owner):
            raise Lost("changed", after_s=1)
        if addresses is None:
            del self.records[name]
            return
        added, removed = addresses - before.addresses, before.addresses - addresses
        self.written.append((name, added, removed))
        self.records[name] = Entry(owner, (found.addresses if found else frozenset()) - removed | added)

    def limit(self, seconds: float) -> None:
        """Answer each request with 429 for some seconds."""
        self.busy_until = asyncio.get_running_loop().time() + seconds

    def _limit(self, what: str) -> None:
        now = asyncio.get_running_loop().time()
        self.requests.append((now, what))
        if now < self.busy_until:
            raise Busy("429 Too Many Requests", after_s=self.busy_until - now)


class Servers(dict[str, Zone]):
    """The targets of an operator. A record of another client is there from the start."""

    def __init__(self) -> None:
        super().__init__(dns=Zone())
        self["dns"].records["mail.example.org"] = Entry("", frozenset({"192.0.2.25"}))

    def state(self) -> dict[str, Any]:
        """Return what clients find; owners are random."""
        return {name: sorted(entry.addresses) for name, entry in sorted(self["dns"].records.items())}
