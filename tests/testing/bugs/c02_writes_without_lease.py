"""C2: a task that a reconcile has started writes on after the lease is lost."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from sampan.client import MergePatch
from sampan.operator import Builder, Manager, Result
from sampan.operator.request import Request
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, STORES, config_map, exists, store

BEATS = 6
PERIOD_S = 8


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the next beat is a reconcile, which ends with the lease."""

    def set_up(manager: Manager) -> None:
        client = manager.client
        tasks: list[asyncio.Task[None]] = []

        async def beat() -> int:
            found = await client.resource(MAPS).get("beat")
            number = int(found["data"]["number"]) + 1
            if number <= BEATS:
                await client.resource(MAPS).patch("beat", MergePatch({"data": {"number": str(number)}}))
            return number

        async def beats() -> None:
            for _ in range(2 * BEATS):
                with suppress(Exception):  # the server may be away
                    await beat()
                await asyncio.sleep(PERIOD_S)

        async def reconcile(request: Request) -> Result:
            if await client.resource(STORES).find(request) is None:
                return Result()
            if not await exists(client, MAPS, "beat"):  # type: ignore[arg-type]
                await client.resource(MAPS).create(config_map("beat", {"number": "0"}))
            if repaired:
                return Result(requeue_after_s=PERIOD_S) if await beat() <= BEATS else Result()
            if not tasks:
                tasks.append(_detached(beats()))
            return Result()

        Builder(manager).for_(STORES).complete(reconcile)

    @scenario(set_up, crds=[CRD], lease="bugs")
    async def heart(cluster: Cluster) -> None:
        await cluster.apply(store())
        await cluster.advance(seconds=120)

    return heart


def _detached(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Start a task whose errors are of no interest."""
    task = asyncio.get_running_loop().create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task
