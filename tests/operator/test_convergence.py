"""Whatever fails: in the end the actual state is the desired one, and nothing was made twice. In virtual time."""

import asyncio
import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.operator.controller import Controller, ControllerOptions
from sampan.operator.queue import ItemExponentialFailureRateLimiter, WorkQueue
from sampan.operator.request import Request, Result
from sampan.testing.time.virtual_time import run_virtual
from tests.properties import examples

NAMES = [f"n{number}" for number in range(6)]


class World:
    """A desired state that changes, a backend that fails, and a reconciler between them."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.desired: dict[str, int] = {}
        self.actual: dict[str, int] = {}
        self.creates: Counter[str] = Counter()
        self.incarnations: Counter[str] = Counter()
        self.under_way: set[Request] = set()
        self.calm = False

    async def _step(self) -> None:
        """Point where a reconciler waits: it may fail, or take too long."""
        await asyncio.sleep(self.dice.choice([0, 0, 0.01, 1, 30]))
        if self.dice.random() < 0.2 and not self.calm:
            raise self.dice.choice([OSError("backend"), KeyError("bug"), TimeoutError(), asyncio.CancelledError()])

    async def reconcile(self, request: Request) -> Result | None:
        assert request not in self.under_way, "one key in two workers"
        self.under_way.add(request)
        try:
            return await self._reconcile(request.name)
        finally:
            self.under_way.remove(request)

    async def _reconcile(self, name: str) -> Result | None:
        await self._step()
        desired = self.desired.get(name)
        if desired is None:
            self.actual.pop(name, None)
        elif name not in self.actual:
            self.creates[name] += 1
            self.actual[name] = desired
            await self._step()
        else:
            self.actual[name] = desired
        return Result(requeue_after_s=100) if self.dice.random() < 0.2 else None

    def change(self, queue: WorkQueue[Request]) -> None:
        """A user writes an object, or deletes it."""
        name = self.dice.choice(NAMES)
        if name in self.desired and self.dice.random() < 0.3:
            del self.desired[name]
        else:
            self.incarnations[name] += name not in self.desired
            self.desired[name] = self.dice.randrange(1000)
        queue.add(Request("", name), priority=self.dice.choice([0, 0, -100]))


class NoSource:
    """Source that is synced."""

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        synced.set()
        await asyncio.get_running_loop().create_future()


async def live(world: World) -> None:
    """Let operators come and go while the desired state changes; then give the last one time."""
    for last in (False, False, True):
        limiter = ItemExponentialFailureRateLimiter(0.01, 60)
        options = ControllerOptions(max_concurrent_reconciles=3, reconcile_timeout_s=20, rate_limiter=limiter)
        controller = Controller("c", world.reconcile, options=options)
        controller.watch(NoSource())
        running = asyncio.create_task(controller.run())
        for name in {*world.desired, *world.actual}:
            controller.queue.add(Request("", name), priority=-100)
        for _ in range(15):
            await asyncio.sleep(world.dice.uniform(0, 5))
            world.change(controller.queue)
        world.calm = last
        await asyncio.sleep(2000 if last else world.dice.uniform(0, 5))
        running.cancel()
        await asyncio.wait({running})


@settings(max_examples=examples(15))
@given(st.integers(min_value=0, max_value=2**32))
def test_the_actual_state_becomes_the_desired_one(seed: int) -> None:
    world = World(seed)
    run_virtual(live(world))
    assert world.actual == world.desired
    assert not world.under_way
    assert all(world.creates[name] <= world.incarnations[name] for name in NAMES)
