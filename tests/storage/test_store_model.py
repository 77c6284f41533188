"""Every engine against the model, with writes alone and in groups."""

import asyncio
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sampan.storage.memory import MemoryStore
from sampan.storage.sqlite import SQLiteStore
from sampan.storage.store import Compacted, Conflict, FutureRevision, KeyExists, StoreEvent
from tests.properties import examples
from tests.storage.conftest import AnyStore
from tests.storage.model import Model

T = TypeVar("T")
KEYS = st.sampled_from(["/r/pods/a/x", "/r/pods/a/y", "/r/pods/b/x", "/r/nodes/x", "/r/pods0"])
VALUES = st.binary(max_size=3) | st.just(b"v" * 5000)
RANGES = st.sampled_from(
    [("/r/pods/", "/r/pods0"), ("/r/pods/a/", "/r/pods/a0"), ("/r/", "/r0"), ("/r/pods/a/x", "/z")]
)
WRITES = st.tuples(st.sampled_from(["create", "update", "delete", "stale"]), KEYS, VALUES)
Write = tuple[str, str, bytes]


class StoreMachine(RuleBasedStateMachine):
    """Does to a store and to the model the same."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.model = Model()
        self.store = self.make()
        self.run(self.store.open())

    def make(self) -> AnyStore:
        return MemoryStore(watch_buffer_max=5)

    def teardown(self) -> None:
        self.run(self.store.close())
        self.run(self.loop.shutdown_default_executor())
        self.loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    @rule(writes=st.lists(WRITES, min_size=1, max_size=8))
    def write_together(self, writes: list[Write]) -> None:
        work = []
        expected: list[object] = []
        for verb, key, value in writes:
            row = self.model.now.get(key)
            at = row.mod_revision if row else 0
            if verb == "create":
                work.append(self.store.create(key, value))
                expected.append(KeyExists if row else self.model.write(key, value))
            elif verb == "update":
                work.append(self.store.update(key, value, at))
                expected.append(self.model.write(key, value) if row else Conflict)
            elif verb == "delete":
                work.append(self.store.delete(key, at))
                expected.append(self.model.write(key, None) if row else Conflict)
            else:
                work.append(self.store.update(key, value, at - 1))
                expected.append(Conflict)

        async def together() -> list[Any]:
            return await asyncio.gather(*work, return_exceptions=True)

        results = self.run(together())
        assert [result if isinstance(result, int) else type(result) for result in results] == expected

    @rule(bounds=RANGES, back=st.integers(-2, 20), limit=st.integers(0, 4))
    def range_at(self, bounds: tuple[str, str], back: int, limit: int) -> None:
        revision = max(self.model.revision - back, 1)
        read = self.store.range(*bounds, limit=limit, revision=revision)
        if revision > self.model.revision:
            with pytest.raises(FutureRevision):
                self.run(read)
        elif revision < self.model.compacted:
            with pytest.raises(Compacted):
                self.run(read)
        else:
            rows = self.model.rows(revision, *bounds)
            result = self.run(read)
            assert list(result.items) == (rows[:limit] if limit else rows)
            assert (result.more, result.count, result.revision) == (0 < limit < len(rows), len(rows), revision)

    @rule(bounds=RANGES, back=st.integers(0, 20))
    def watch_from(self, bounds: tuple[str, str], back: int) -> None:
        after = max(self.model.revision - back, 0)

        async def watch() -> list[StoreEvent]:
            observed: list[StoreEvent] = []
            async with self.store.watch(*bounds, after) as watch:
                reached = after
                while reached < self.model.revision:
                    batch = await asyncio.wait_for(anext(watch), 60)
                    observed += batch.events
                    reached = batch.revision
            return observed

        if after < self.model.compacted:
            with pytest.raises(Compacted):
                self.run(watch())
        else:
            assert self.run(watch()) == self.model.after(after, *bounds)

    @rule(back=st.integers(0, 10))
    def compact(self, back: int) -> None:
        revision = self.model.revision - back
        if revision <= self.model.compacted:
            with pytest.raises(Compacted):
                self.run(self.store.compact(revision))
        else:
            self.run(self.store.compact(revision))
            self.model.compacted = revision

    @invariant()
    def the_present_is_the_models(self) -> None:
        assert self.run(self.store.revision()) == self.model.revision
        for key in ("/r/pods/a/x", "/r/nodes/x"):
            assert self.run(self.store.get(key)) == self.model.now.get(key)


class SQLiteMachine(StoreMachine):
    """Machine on a file, which is sometimes closed and opened again."""

    def __init__(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        super().__init__()

    def make(self) -> AnyStore:
        return SQLiteStore(Path(self.directory.name) / "store.db", watch_buffer_max=5)

    def teardown(self) -> None:
        super().teardown()
        self.directory.cleanup()

    @precondition(lambda self: self.model.revision > 1)
    @rule()
    def reopen(self) -> None:
        self.run(self.store.close())
        self.store = self.make()
        self.run(self.store.open())


TestMemoryStoreAgainstModel = StoreMachine.TestCase
TestMemoryStoreAgainstModel.settings = settings(max_examples=examples(60), stateful_step_count=30)
TestSQLiteStoreAgainstModel = SQLiteMachine.TestCase
TestSQLiteStoreAgainstModel.settings = settings(max_examples=examples(40), stateful_step_count=30)
