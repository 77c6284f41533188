"""The garbage collector with a runtime that is a list, in virtual time."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import pytest

from sampan.core.time import SystemClock
from sampan.node.garbage.collector import CONTAINERS_S, IMAGES_S, GarbageCollector, GarbageFailed
from sampan.node.garbage.images import Disk, ImageInStore, ImagePolicy
from sampan.testing.time.virtual_time import virtual_time


@dataclass
class Store:
    """Runtime with images of 10 bytes on a disk of 100 bytes."""

    names: list[str]
    used: set[str] = field(default_factory=set)
    other_bytes: int = 0
    stuck: set[str] = field(default_factory=set)
    rounds: list[float] = field(default_factory=list)
    fault: str = ""

    async def images(self) -> Sequence[ImageInStore]:
        return [ImageInStore(name, (), 10) for name in self.names]

    async def used_images(self) -> Collection[str]:
        return self.used

    async def image_disk(self) -> Disk:
        return Disk(100, 100 - 10 * len(self.names) - self.other_bytes)

    async def remove_image(self, id: str) -> None:
        if id in self.stuck:
            raise OSError("image is busy")
        self.names.remove(id)

    async def remove_dead(self, *, of_ended_pods: bool = False) -> None:
        self.rounds.append(asyncio.get_running_loop().time())
        if self.fault:
            raise OSError(self.fault)


def collector(store: Store, events: list[tuple[str, str]] | None = None) -> GarbageCollector:
    found: list[tuple[str, str]] = [] if events is None else events
    return GarbageCollector(
        store, ImagePolicy(), clock=SystemClock(), report=lambda reason, note: found.append((reason, note))
    )


@virtual_time
async def test_images_are_removed_until_the_use_is_low() -> None:
    store = Store([str(number) for number in range(9)], used={"0", "1"})
    await collector(store).collect_images()
    assert store.names == ["0", "1", "3", "4", "5", "6", "7", "8"]


@virtual_time
async def test_event_reports_that_too_little_could_be_removed() -> None:
    events: list[tuple[str, str]] = []
    store = Store(["used", "unused"], used={"used"}, other_bytes=80)
    with pytest.raises(GarbageFailed):
        await collector(store, events).collect_images()
    assert store.names == ["used"]
    note = "Failed to garbage collect required amount of images. Attempted to free 20 bytes, "
    assert events == [("FreeDiskSpaceFailed", note + "but only found 10 bytes eligible to free.")]


@virtual_time
async def test_image_that_cannot_be_removed_does_not_stop_the_collection() -> None:
    store = Store(["stuck", "free"], stuck={"stuck"}, other_bytes=80)
    with pytest.raises(OSError, match="freed 10 bytes space with errors in image deletion: image is busy"):
        await collector(store).collect_images()
    assert store.names == ["stuck"]


@virtual_time
async def test_image_that_was_pulled_a_moment_ago_is_kept() -> None:
    store = Store(["old"], used={"old"}, other_bytes=60)
    found = collector(store)
    await found.collect_images()
    await asyncio.sleep(IMAGES_S)
    store.names += ["new"]
    store.other_bytes = 70
    with pytest.raises(GarbageFailed):
        await found.collect_images()
    assert store.names == ["old", "new"]
    await asyncio.sleep(120)
    await found.collect_images()
    assert store.names == ["old"]


@virtual_time
async def test_pressure_removes_all_unused_images_and_dead_containers() -> None:
    store = Store(["used", "a", "b"], used={"used"})
    await collector(store).remove_unused_images()
    assert store.names == ["used"]


@virtual_time
async def test_containers_are_collected_each_minute_and_a_second_failure_is_an_event() -> None:
    events: list[tuple[str, str]] = []
    store = Store([], fault="runtime is gone")
    task = asyncio.create_task(collector(store, events).run())
    await asyncio.sleep(CONTAINERS_S - 1)
    assert events == []
    await asyncio.sleep(CONTAINERS_S)
    task.cancel()
    assert store.rounds == [0.0, CONTAINERS_S]
    assert events == [("ContainerGCFailed", "runtime is gone")]
