"""`Kernel`: the blocking work on the machine's network, in one thread.

Concurrency: one thread, so that transactions follow one another. All calls act in that thread's network namespace.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from sampan.service_proxy.conntrack import UdpTargets, delete_flows
from sampan.service_proxy.family import Family
from sampan.service_proxy.machine import families, prepare
from sampan.service_proxy.nft import Nft, open_nft

T = TypeVar("T")

TABLE: Final = "sampan-proxy"
"""Name of the table of each family."""


class Kernel:
    """The rules and the tracked flows of a network namespace."""

    def __init__(self, *, enter: Callable[[], None] | None = None) -> None:
        """`enter` is called first in the thread, for example to enter a network namespace."""
        self._thread = ThreadPoolExecutor(1, "sampan-proxy", initializer=enter)
        self._opened: Nft | None = None

    async def prepare(self) -> Sequence[Family]:
        """Check the machine, and return the address families that it supports. Raises `ServiceProxyError`."""
        return await self._call(lambda: prepare(self._nft, TABLE))

    async def write(self, commands: str) -> None:
        """Run one transaction. Raises `NftError`."""
        await self._call(lambda: self._nft.run(commands))

    async def has_table(self, name: str) -> bool:
        """Return True if the table exists. Raises `NftError`."""
        tables = await self._call(lambda: self._nft.run("list tables\n"))
        return f"table {name}" in tables.splitlines()

    async def delete_flows(self, family: Family, targets: UdpTargets) -> int:
        """Delete the UDP flows to endpoints that no longer exist, and return the number of deleted flows.

        Raises `OSError`.
        """
        return await self._call(lambda: delete_flows(family, targets.is_stale))

    async def clean_up(self) -> None:
        """Delete the tables. Raises `ServiceProxyError`."""
        for family in await self._call(lambda: families(self._nft, TABLE)):
            name = f"{family.name} {TABLE}"
            await self.write(f"add table {name}\ndelete table {name}\n")

    def close(self) -> None:
        """End the thread after its current work."""
        self._thread.shutdown(wait=False)

    @property
    def _nft(self) -> Nft:
        if self._opened is None:
            self._opened = open_nft()
        return self._opened

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
