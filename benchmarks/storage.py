"""Speed of the storage layer: `python -m benchmarks.storage [directory]`. Figures go to docs/adr/0002-storage.md."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from sampan.storage.cache import WatchCache
from sampan.storage.encoding import encode, extractor, respliced_record
from sampan.storage.memory import MemoryStore
from sampan.storage.sqlite import SQLiteStore
from sampan.storage.store import Store

PREFIX = "/registry/pods/"


def key_of(number: int) -> str:
    return f"{PREFIX}ns-{number % 10}/pod-{number:06}"


def value_of(number: int, size: int = 1000) -> bytes:
    metadata = {
        "name": f"pod-{number:06}",
        "namespace": f"ns-{number % 10}",
        "uid": str(number),
        "labels": {"app": "a"},
    }
    return encode({"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"padding": "x" * (size - 180)}})


def report(name: str, operations: int, seconds: float) -> None:
    print(f"{name:55} {operations / seconds:12,.0f}/s {seconds / operations * 1e6:10.1f} µs")


async def writers(store: Store, name: str, count: int, per_writer: int) -> None:
    value = value_of(0)

    async def create(writer: int) -> None:
        for number in range(per_writer):
            await store.create(f"{PREFIX}{name}-{writer}/pod-{number:06}", value)

    async def update(writer: int) -> None:
        key = f"{PREFIX}{name}-{writer}/updated"
        revision = await store.create(key, value)
        for _ in range(per_writer):
            revision = await store.update(key, value, revision)

    for verb, work in (("create", create), ("update", update)):
        best = await best_of(1, lambda work=work: gather(work, count))  # type: ignore[misc]
        report(f"{name}: {verb}, {count} writers", count * per_writer, best)


async def gather(work: Callable[[int], Awaitable[None]], count: int) -> None:
    await asyncio.gather(*(work(number) for number in range(count)))


async def best_of(runs: int, work: Callable[[], Awaitable[object]]) -> float:
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        await work()
        best = min(best, time.perf_counter() - start)
    return best


async def reads(store: Store, rows: int) -> None:
    for number in range(0, rows, 500):
        await asyncio.gather(*(store.create(key_of(n), value_of(n)) for n in range(number, number + 500)))

    async def gets() -> None:
        for number in range(1000):
            await store.get(key_of(number))

    report("get", 1000, await best_of(5, gets))
    report(f"range of {rows}", 1, await best_of(5, lambda: store.range(PREFIX, "/registry/pods0")))
    at = await store.revision()
    await store.create("/registry/x", b"")
    report(
        f"range of {rows} at a revision",
        1,
        await best_of(5, lambda: store.range(PREFIX, "/registry/pods0", revision=at)),
    )


def listed_again(watched: WatchCache, prefix: str) -> None:
    watched._records._slices.clear()
    watched.list(prefix)


async def cache(store: Store, rows: int) -> None:
    watched = WatchCache(store, PREFIX, extractor(), respliced_record)
    start = time.perf_counter()
    task = asyncio.create_task(watched.run())
    await watched.wait_ready()
    report(f"cache: ready with {rows} records", 1, time.perf_counter() - start)

    async def timed(name: str, work: Callable[[], object], operations: int = 1) -> None:
        best = float("inf")
        for _ in range(20):
            begun = time.perf_counter()
            work()
            best = min(best, time.perf_counter() - begun)
        report(f"cache: {name}", operations, best)

    await timed("list all, nothing written since", lambda: watched.list(PREFIX))
    await timed("list all, sliced anew", lambda: listed_again(watched, PREFIX))
    await timed("list a namespace, sliced anew", lambda: listed_again(watched, PREFIX + "ns-3/"))
    await timed("list all with a selector", lambda: watched.list(PREFIX, matches=lambda r: r.labels.get("app") == "b"))
    await timed("page of 500", lambda: watched.list(PREFIX, after_key=key_of(3), limit=500))

    async def fresh() -> None:
        for _ in range(1000):
            await watched.fresh()

    report("cache: fresh", 1000, await best_of(5, fresh))
    await fan_out(store, watched, 100)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def fan_out(store: Store, watched: WatchCache, watchers: int) -> None:
    observed = [0] * watchers

    async def consume(number: int, expected: int) -> None:
        async with watched.watch(PREFIX, after=watched.revision, buffer_max=10_000) as watcher:
            while observed[number] < expected:
                observed[number] += len((await watcher.next()).events)

    tasks = [asyncio.create_task(consume(number, 5000)) for number in range(watchers)]
    await asyncio.sleep(0)
    value = value_of(1)

    async def write(writer: int) -> None:
        for number in range(50):
            await store.create(f"{PREFIX}fan-{writer}/{number}", value)

    start = time.perf_counter()
    await gather(write, 100)
    await asyncio.gather(*tasks)
    report(f"cache: writes seen by {watchers} watchers each", 5000, time.perf_counter() - start)


async def main(directory: str) -> None:
    path = Path(directory) / "bench.db"
    memory = MemoryStore()
    await memory.open()
    await writers(memory, "memory", 64, 300)
    await memory.close()
    store = SQLiteStore(path)
    await store.open()
    for count in (1, 8, 64, 256):
        await writers(store, f"sqlite-{count}", count, max(20000 // max(count, 16), 100))
    await store.close()
    store = SQLiteStore(Path(directory) / "rows.db")
    await store.open()
    await reads(store, 10_000)
    await store.close()
    start = time.perf_counter()
    store = SQLiteStore(Path(directory) / "rows.db")
    await store.open()
    report("sqlite: open with 10,000 rows", 1, time.perf_counter() - start)
    await cache(store, 10_000)
    start = time.perf_counter()
    await store.compact(await store.revision())
    report("sqlite: compact 15,000 revisions", 1, time.perf_counter() - start)
    await store.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as where:
        asyncio.run(main(where))
