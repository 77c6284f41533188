"""The watch cache against the model: lists at any revision, and watchers that replay their events."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sampan.storage.cache import WatchCache
from sampan.storage.encoding import decode, extractor, respliced_record
from sampan.storage.memory import MemoryStore
from sampan.storage.records import Batch, Matches, Record
from sampan.storage.store import Compacted, KeyValue, prefix_end
from sampan.storage.watcher import Watcher
from tests.properties import examples
from tests.storage.cached import PODS, app_is_x, key, pod
from tests.storage.model import Model

T = TypeVar("T")
NAMES = st.tuples(st.sampled_from("123"), st.sampled_from("ab"))
SCOPES = st.sampled_from([PODS, PODS + "a/", key("1"), "/registry/pods/b/"])
SELECTORS = st.sampled_from([None, app_is_x])
extract = extractor()


class Replay:
    """Client that builds its state from events, and verifies that each of them fits."""

    def __init__(self, watcher: Watcher, scope: str, matches: Matches, state: dict[str, Record], after: int) -> None:
        self.watcher = watcher
        self.scope = scope
        self.matches = matches
        self.state = state
        self.revision = after

    def take(self, batch: Batch) -> None:
        for type_, event in batch.events:
            record = event.record
            assert (record.key in self.state) == (type_ != "ADDED")
            assert decode(record.value)["metadata"]["resourceVersion"] == str(record.revision)
            if type_ == "DELETED":
                assert record.labels == self.state.pop(record.key).labels
            else:
                self.state[record.key] = record
        assert batch.revision >= self.revision
        self.revision = batch.revision


class CacheMachine(RuleBasedStateMachine):
    """Writes to a store; watches and lists through the cache."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.model = Model()
        self.store = MemoryStore()
        self.replays: list[Replay] = []
        self.cache = WatchCache(
            self.store, PODS, extract, respliced_record, history_window_s=0, events_min=4, events_max=8
        )
        self.task = self.loop.create_task(self.cache.run())
        self.run(self.cache.wait_ready(5))

    def teardown(self) -> None:
        self.task.cancel()
        self.run(asyncio.wait([self.task]))
        self.loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def rows(self, revision: int, scope: str, matches: Matches) -> dict[str, KeyValue]:
        """The selected rows of a scope, by the model."""
        rows = self.model.rows(revision, scope, prefix_end(scope) if scope.endswith("/") else scope + "\0")
        return {row.key: row for row in rows if matches is None or matches(extract(row))}

    @rule(name=NAMES, app=st.sampled_from("xy"), delete=st.booleans())
    def write(self, name: tuple[str, str], app: str, delete: bool) -> None:
        at = key(*name)
        row = self.model.now.get(at)
        value = pod(*name, app=app)
        if row is None:
            self.run(self.store.create(at, value))
            self.model.write(at, value)
        elif delete:
            self.run(self.store.delete(at, row.mod_revision))
            self.model.write(at, None)
        else:
            self.run(self.store.update(at, value, row.mod_revision))
            self.model.write(at, value)

    @rule()
    def write_elsewhere(self) -> None:
        at = f"/registry/nodes/{self.model.revision}"
        self.run(self.store.create(at, b"{}"))
        self.model.write(at, b"{}")

    @rule()
    def compact(self) -> None:
        revision = self.model.revision - 6
        if revision > self.model.compacted:
            self.run(self.store.compact(revision))
            self.model.compacted = revision

    @rule(scope=SCOPES, matches=SELECTORS, back=st.none() | st.integers(0, 15))
    def watch(self, scope: str, matches: Matches, back: int | None) -> None:
        after = None if back is None else max(self.model.revision - back, 1)
        single = "" if scope.endswith("/") else scope

        async def begin() -> None:
            prefix = PODS if single else scope
            watcher = self.cache.watch(prefix, after=after, matches=matches, key=single)
            await watcher.__aenter__()
            rows = {} if after is None else self.rows(after, scope, matches)
            state = {row.key: extract(row) for row in rows.values()}
            self.replays.append(Replay(watcher, scope, matches, state, after or 0))

        if after is not None and after < self.model.compacted and after < self.cache.ring.reaches:
            try:
                self.run(begin())
            except Compacted:
                return
            raise AssertionError("the compacted past was watched")
        self.run(begin())

    @rule(back=st.integers(0, 15), scope=SCOPES, matches=SELECTORS, limit=st.integers(0, 3))
    def list_at(self, back: int, scope: str, matches: Matches, limit: int) -> None:
        revision = max(self.model.revision - back, 1)
        if not scope.endswith("/") or revision < self.model.compacted:
            return
        observed: list[Record] = []

        async def pages() -> None:
            after = ""
            while True:
                page = await self.cache.list_at(revision, scope, after_key=after, limit=limit, matches=matches)
                assert page.revision == revision
                assert not limit or len(page.records) <= limit
                observed.extend(page.records)
                if not page.more:
                    return
                after = page.records[-1].key

        self.run(pages())
        expected = self.rows(revision, scope, matches)
        assert [(r.key, r.revision, r.create_revision) for r in observed] == [
            (row.key, row.mod_revision, row.create_revision) for row in expected.values()
        ]

    @rule()
    def take_all(self) -> None:
        async def take(replay: Replay) -> None:
            while replay.revision < self.model.revision:
                replay.take(await replay.watcher.next(0))

        for replay in self.replays:
            self.run(take(replay))
            rows = self.rows(self.model.revision, replay.scope, replay.matches)
            assert {at: r.revision for at, r in replay.state.items()} == {at: r.mod_revision for at, r in rows.items()}

    @invariant()
    def the_cache_shows_the_present(self) -> None:
        assert self.run(self.cache.fresh()) == self.model.revision
        rows = self.rows(self.model.revision, PODS, None)
        assert [(r.key, r.revision) for r in self.cache.list(PODS).records] == [
            (row.key, row.mod_revision) for row in rows.values()
        ]


TestWatchCacheAgainstModel = CacheMachine.TestCase
TestWatchCacheAgainstModel.settings = settings(max_examples=examples(80), stateful_step_count=40)
