"""`Scene`: on what faults act."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.robustness.machines import ApiServer, Committed, Machines
from tests.storage.etcd.server import Member


@dataclass
class Scene:
    """On what faults act, and what chance they have."""

    machines: Machines
    committed: Committed
    random: random.Random
    interval: float = 1.0
    """Duration of faults, as a multiple of the usual one."""

    def server(self) -> ApiServer:
        return self.random.choice(self.machines.servers)

    def proxied(self) -> ApiServer:
        """One that reaches etcd through proxies."""
        return self.random.choice([server for server in self.machines.servers if server.proxies])

    def member(self) -> Member:
        return self.random.choice(self.machines.members)

    async def hold(self, at_least_s: float, at_most_s: float) -> None:
        """Let the fault last."""
        await asyncio.sleep(self.interval * self.random.uniform(at_least_s, at_most_s))


Fault = Callable[[Scene], Awaitable[None]]
