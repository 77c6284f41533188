"""`RuleThread`: the blocking work on the rules of a network namespace, in one thread.

Concurrency: one thread, so that transactions follow one another. All calls act in that thread's network namespace.
"""

import asyncio
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sampan.component_base.netlink import open_rule_events, rule_generation
from sampan.component_base.nftables.nft import Nft, open_nft

T = TypeVar("T")


class RuleThread:
    """Runs transactions of nftables."""

    def __init__(self, name: str, *, enter: Callable[[], None] | None = None) -> None:
        """`enter` is called first in the thread, for example to enter a network namespace."""
        self._thread = ThreadPoolExecutor(1, name, initializer=enter)
        self._opened: Nft | None = None

    async def write(self, commands: str) -> range:
        """Run one transaction. Raises `NftError`.

        Returns the numbers of rulesets, one of which it has made. The other numbers are of programs that have changed
        rules at the same time. Empty if the kernel does not report them.
        """
        return await self.call(lambda: self._write(commands))

    def _write(self, commands: str) -> range:
        before = _generation()
        self.nft.run(commands)
        return range(before + 1, _generation() + 1)

    async def generation(self) -> int:
        """Return the number of the current ruleset; 0 if the kernel does not report it."""
        return await self.call(_generation)

    async def rule_events(self) -> socket.socket | None:
        """Return a socket that receives all changes of rules, or None if the kernel does not report them."""
        try:
            return await self.call(open_rule_events) if await self.call(_generation) else None
        except OSError:
            return None

    async def has_table(self, name: str) -> bool:
        """Return True if the table exists. Raises `NftError`."""
        tables = await self.call(lambda: self.nft.run("list tables\n"))
        return f"table {name}" in tables.splitlines()

    async def remove_table(self, name: str) -> None:
        """Delete a table, if it exists. Raises `NftError`."""
        await self.write(f"add table {name}\ndelete table {name}\n")

    def close(self) -> None:
        """End the thread after its current work."""
        self._thread.shutdown(wait=False)

    @property
    def nft(self) -> Nft:
        """Commands of nft, to be used in the thread."""
        if self._opened is None:
            self._opened = open_nft()
        return self._opened

    async def call(self, work: Callable[[], T]) -> T:
        """Run a function in the thread, and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _generation() -> int:
    """Return the number of the current ruleset; 0 if the kernel does not report it."""
    try:
        return rule_generation()
    except OSError:
        return 0
