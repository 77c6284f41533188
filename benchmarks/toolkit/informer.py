"""Informers: the initial list, updates from a watch, and memory."""

import asyncio
import gc
import multiprocessing
import time
from collections.abc import AsyncGenerator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.load import Figure
from benchmarks.toolkit.pods import PODS, SIZE_BYTES, pod, pod_list, watch_chunks
from sampan.client.options import ListOptions
from sampan.client.watching.event_lines import EventLines
from sampan.client.watching.list_watch import ListWatch, RawEvent, RawList
from sampan.client.watching.raw_list import split_list
from sampan.informer import Deletion, InformerSettings, Ref, ReflectorSettings, SharedInformer, Transform, strip_fields
from sampan.resource import Object

STRIPPED = ("metadata.annotations", "spec.containers.env", "spec.volumes", "status")
"""Fields that `measure_stripped` removes."""


class Counter:
    """Handler that only counts its notifications."""

    def __init__(self) -> None:
        self.notified = 0
        self._desired = -1
        self._reached = asyncio.Event()

    async def until(self, desired: int) -> None:
        """Wait until the handler has received this number of notifications."""
        self._desired = desired
        await self._reached.wait()

    def on_add(self, obj: Ref[Object], is_in_initial_list: bool) -> None:
        """Count a notification."""
        self.notified += 1

    def on_update(self, old: Ref[Object], new: Ref[Object]) -> None:
        """Count a notification."""
        self.notified += 1
        if self.notified == self._desired:
            self._reached.set()

    def on_delete(self, obj: Deletion[Object]) -> None:
        """Count a notification."""
        self.notified += 1


class Bodies:
    """A `ListWatch` that parses given bytes of a list and a watch like those from a connection."""

    def __init__(self, body: bytes, chunks: Sequence[bytes]) -> None:
        self._body = body
        self._chunks = chunks
        self.watch_may_begin = asyncio.Event()

    async def list(self, options: ListOptions) -> RawList:
        """Return the list. Its bytes are no longer referenced here."""
        body, self._body = self._body, b""
        return split_list(body)

    async def watch(self, options: ListOptions) -> AsyncGenerator[Sequence[RawEvent], None]:
        """Yield the events of the watch, then wait until cancelled."""
        lines = EventLines()
        await self.watch_may_begin.wait()
        for chunk in self._chunks:
            for batch in lines.feed(chunk):
                yield batch
            await asyncio.sleep(0)
        await asyncio.get_running_loop().create_future()


class Pages:
    """A `ListWatch` that makes the pages of a list when they are requested, so that only one is in memory."""

    def __init__(self, count: int) -> None:
        self._count = count

    async def list(self, options: ListOptions) -> RawList:
        """Return a page."""
        begin = int(options.continue_token or 0)
        end = min(begin + (options.limit or self._count), self._count)
        items = [pod(number, number + 1) for number in range(begin, end)]
        return RawList(items, str(self._count), str(end) if end < self._count else "")

    async def watch(self, options: ListOptions) -> AsyncGenerator[Sequence[RawEvent], None]:
        """Wait until cancelled."""
        yield ()
        await asyncio.get_running_loop().create_future()


def _informer(
    source: ListWatch, *, streaming: bool = False, transform: Transform | None = None
) -> tuple[SharedInformer[Object], Counter]:
    settings = InformerSettings(ReflectorSettings(streaming=streaming))
    return SharedInformer(source, PODS, settings=settings, transform=transform), Counter()


def _figure(count: int, began: tuple[float, float], *, missing: int) -> Figure:
    wall_s, cpu_s = time.perf_counter() - began[0], time.process_time() - began[1]
    note = f"{cpu_s / count * 1e6:.1f} µs of CPU each"
    return Figure(count / wall_s, count, mb_per_s=count * SIZE_BYTES / wall_s / 1e6, errors=missing, note=note)


def _now() -> tuple[float, float]:
    gc.collect()
    return time.perf_counter(), time.process_time()


def measure_list(count: int) -> Figure:
    """Measure the Pods of a list a second, from its bytes until a handler has received all."""
    return asyncio.run(_measure_first_state(Bodies(pod_list(count), ()), count, streaming=False))


def measure_stream(count: int) -> Figure:
    """Measure the same for a streaming list."""
    end = b'{"metadata":{"resourceVersion":"%d","annotations":{"k8s.io/initial-events-end":"true"}}}' % count
    events = [(b"ADDED", pod(number, number + 1)) for number in range(count)]
    source = Bodies(b"", list(watch_chunks([*events, (b"BOOKMARK", end)])))
    source.watch_may_begin.set()
    return asyncio.run(_measure_first_state(source, count, streaming=True))


async def _measure_first_state(source: Bodies, count: int, *, streaming: bool) -> Figure:
    informer, counter = _informer(source, streaming=streaming)
    registration = informer.add_handler(counter)
    began = _now()
    task = asyncio.create_task(informer.run())
    await registration.synced()
    task.cancel()
    return _figure(count, began, missing=count - counter.notified)


def measure_events(count: int) -> Figure:
    """Measure the changes of Pods a second, from the bytes of the watch until a handler has received all."""
    return asyncio.run(_measure_events(count))


async def _measure_events(count: int) -> Figure:
    there = min(count, 10_000)
    chunks = list(watch_chunks((b"MODIFIED", pod(at % there, there + at + 1)) for at in range(count)))
    source = Bodies(pod_list(there), chunks)
    informer, counter = _informer(source)
    registration = informer.add_handler(counter)
    task = asyncio.create_task(informer.run())
    await registration.synced()
    began = _now()
    source.watch_may_begin.set()
    await counter.until(there + count)
    task.cancel()
    return _figure(count, began, missing=there + count - counter.notified)


def measure_memory(count: int) -> Figure:
    """Measure the resident kB for each Pod in an informer, in a separate process and without the bytes of the list."""
    context = multiprocessing.get_context("spawn")
    requests, bodies = context.Pipe(duplex=False)
    results, responses = context.Pipe(duplex=False)
    process = context.Process(target=_keep, args=(requests, responses, count), daemon=True)
    process.start()
    bodies.send_bytes(pod_list(count))
    before, after = results.recv()
    process.join()
    note = f"Pods of {SIZE_BYTES} bytes; {before / 1e6:.0f} MB without any, {after / 1e6:.0f} MB with {count:,}"
    return Figure((after - before) / count / 1000, count, note=note)


def measure_stripped(count: int) -> Figure:
    """Measure the same for a list in pages, if a transform removes fields that many operators do not read."""
    context = multiprocessing.get_context("spawn")
    results, responses = context.Pipe(duplex=False)
    process = context.Process(target=_keep_stripped, args=(responses, count), daemon=True)
    process.start()
    before, after = results.recv()
    process.join()
    note = f"without {', '.join(STRIPPED)}; {before / 1e6:.0f} MB without any, {after / 1e6:.0f} MB with {count:,}"
    return Figure((after - before) / count / 1000, count, note=note)


def _keep(bodies: Connection, responses: Connection, count: int) -> None:
    before = _resident_bytes()
    asyncio.run(_keep_running(Bodies(bodies.recv_bytes(), ()), responses, count, before))


def _keep_stripped(responses: Connection, count: int) -> None:
    before = _resident_bytes()
    asyncio.run(_keep_running(Pages(count), responses, count, before, strip_fields(*STRIPPED)))


async def _keep_running(
    source: ListWatch, responses: Connection, count: int, before: int, transform: Transform | None = None
) -> None:
    informer, counter = _informer(source, transform=transform)
    del source
    registration = informer.add_handler(counter)
    task = asyncio.create_task(informer.run())
    await registration.synced()
    assert counter.notified == len(informer.indexer) == count
    gc.collect()
    responses.send((before, _resident_bytes()))
    task.cancel()


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096
