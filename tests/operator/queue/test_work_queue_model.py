"""The work queue against a naive model, in virtual time."""

import asyncio
from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sampan.operator.queue import WorkQueue
from sampan.testing.time.virtual_time import VirtualTimeLoop, settle
from tests.properties import examples

KEYS = st.sampled_from("abcd")
PRIORITIES = st.sampled_from([-100, 0, 0, 7])
DELAYS = st.integers(min_value=-1, max_value=5)


@dataclass
class Expected:
    """State of a key in the model."""

    priority: int
    ready_at: float | None
    order: int
    """The turn in which it entered its lane; while it waits, that in which it got its time."""


class WorkQueueMachine(RuleBasedStateMachine):
    """Every operation on the queue and on lists that are searched from end to end."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualTimeLoop()
        self.items: dict[str, Expected] = {}
        self.processing: list[str] = []
        self.turn = 0
        self.now = 0.0
        self.shut_down = False

    @initialize()
    def make(self) -> None:
        async def make() -> WorkQueue[str]:
            return WorkQueue("model")

        self.queue = self.loop.run_until_complete(make())

    def teardown(self) -> None:
        self.loop.close()

    def next_turn(self) -> int:
        self.turn += 1
        return self.turn

    def model_add(self, key: str, delay: int, priority: int) -> None:
        if self.shut_down:
            return
        ready_at = self.now + delay if delay > 0 else None
        item = self.items.get(key)
        if item is None:
            self.items[key] = Expected(priority, ready_at, self.next_turn())
            return
        if priority > item.priority:
            item.priority = priority
            if item.ready_at is None:
                item.order = self.next_turn()
        if item.ready_at is not None and (ready_at is None or ready_at < item.ready_at):
            item.ready_at = ready_at
            item.order = self.next_turn()

    def available(self) -> list[str]:
        """Return the items that `get` may return, in order."""
        due = [key for key, item in self.items.items() if item.ready_at is None and key not in self.processing]
        return sorted(due, key=lambda key: (-self.items[key].priority, self.items[key].order))

    @rule(key=KEYS, priority=PRIORITIES)
    def add(self, key: str, priority: int) -> None:
        self.queue.add(key, priority=priority)
        self.model_add(key, 0, priority)

    @rule(key=KEYS, delay=DELAYS, priority=PRIORITIES)
    def add_after(self, key: str, delay: int, priority: int) -> None:
        self.queue.add_after(key, delay, priority=priority)
        self.model_add(key, delay, priority)

    @precondition(lambda self: self.available())
    @rule()
    def get(self) -> None:
        key = self.available()[0]
        assert self.loop.run_until_complete(self.queue.get_with_priority()) == (key, self.items[key].priority)
        del self.items[key]
        self.processing.append(key)

    @precondition(lambda self: self.processing)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(self.processing))
        self.queue.done(key)
        self.processing.remove(key)
        item = self.items.get(key)
        if item is not None and item.ready_at is None:
            item.order = self.next_turn()

    @rule(seconds=st.integers(min_value=1, max_value=4))
    def time_passes(self, seconds: int) -> None:
        async def pass_time() -> None:
            await asyncio.sleep(seconds)
            await settle(rounds=5)

        self.loop.run_until_complete(pass_time())
        self.now += seconds
        waiting = [item for item in self.items.values() if item.ready_at is not None and item.ready_at <= self.now]
        for item in sorted(waiting, key=lambda item: (item.ready_at, item.order)):
            item.ready_at = None
            item.order = self.next_turn()

    @precondition(lambda self: not self.shut_down and self.turn > 20)
    @rule()
    def shuts_down(self) -> None:
        self.queue.shut_down()
        self.shut_down = True
        self.items.clear()

    @invariant()
    def as_many_keys_are_ready(self) -> None:
        assert len(self.queue) == len(self.available())

    @invariant()
    def the_same_keys_are_processed(self) -> None:
        assert self.queue.processing == frozenset(self.processing)


WorkQueueMachine.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=40)
TestWorkQueueAgainstTheModel = WorkQueueMachine.TestCase
