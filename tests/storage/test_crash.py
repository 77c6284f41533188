"""Acknowledged writes survive kill -9, in order, and revisions continue after them."""

import asyncio
import random
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from sampan.storage.sqlite import SQLiteStore
from sampan.storage.store import StoreEvent, prefix_end
from tests.storage.crash_writer import PREFIX

REPEATS = 6


@dataclass(frozen=True)
class Acknowledged:
    """A write that the child reported; `number` -1 is a delete."""

    key: str
    revision: int
    number: int


async def _killed_under_load(path: Path, writes: int) -> list[Acknowledged]:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.storage.crash_writer", str(path), stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    lines: list[bytes] = []
    async with asyncio.timeout(60):
        while len(lines) < writes:
            line = await child.stdout.readline()
            assert line, "the child ended by itself"
            lines.append(line)
        child.send_signal(signal.SIGKILL)
        lines += (await child.stdout.read()).splitlines(keepends=True)
        await child.wait()
    numbers = [[int(part) for part in line.split()] for line in lines if line.endswith(b"\n")]
    return [Acknowledged(f"{PREFIX}{writer}", revision, number) for writer, revision, number in numbers]


async def _events_after(store: SQLiteStore, after: int) -> list[StoreEvent]:
    events: list[StoreEvent] = []
    current = await store.revision()
    reached = after
    async with asyncio.timeout(30), store.watch(PREFIX, prefix_end(PREFIX), after) as watch:
        while reached < current:
            batch = await anext(watch)
            events += batch.events
            reached = batch.revision
    return events


def _number(value: bytes | None) -> int:
    return -1 if value is None else int(value.split()[0])


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
async def test_acknowledged_writes_survive_kill_9_and_watches_resume(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    chance = random.Random(tmp_path.name)
    before = 1
    for _ in range(REPEATS):
        acknowledged = await _killed_under_load(path, chance.randint(1, 1500))
        store = SQLiteStore(path)
        await store.open()
        try:
            revision = await store.revision()
            assert revision >= max(write.revision for write in acknowledged)
            assert min(write.revision for write in acknowledged) > before, "a revision was given out twice"
            after = max(before, revision - 5_000)
            events = await _events_after(store, after)
            assert [event.revision for event in events] == list(range(after + 1, revision + 1))
            stored = {(event.key, event.revision): _number(event.value) for event in events}
            for write in acknowledged:
                if write.revision > after:
                    assert stored[write.key, write.revision] == write.number
            rows = {row.key: row for row in (await store.range(PREFIX, prefix_end(PREFIX))).items}
            for event in {event.key: event for event in events}.values():
                row = rows.get(event.key)
                assert (row.value if row else None) == event.value
            before = revision
        finally:
            await store.close()
