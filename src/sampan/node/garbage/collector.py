"""`GarbageCollector`: removes dead containers each minute, and unused images every five minutes.

Concurrency: `run` has one loop for containers and one for images. The eviction manager also calls the collector: a lock
serializes the removal of images.
Source: kubelet pkg/kubelet/kubelet.go `StartGarbageCollection`, pkg/kubelet/images/image_gc_manager.go (1.36).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final, Protocol

from sampan.core.time import Clock
from sampan.node.garbage.images import (
    Disk,
    ImageInStore,
    ImagePolicy,
    ImageRecord,
    bytes_to_free,
    observed,
    too_old,
    unused,
    use_percent,
)
from sampan.operator.failures.error_text import one_line

CONTAINERS_S: Final = 60.0
IMAGES_S: Final = 300.0
_log = logging.getLogger("sampan.node")


class GarbageFailed(Exception):
    """Garbage collection could not remove enough. The text is for an event of the node."""


class Garbage(Protocol):
    """Part of a runtime that the collector needs. All methods raise `OSError` if the runtime fails."""

    async def images(self) -> Sequence[ImageInStore]:
        """Return the images in the store, used and unused ones."""
        ...

    async def used_images(self) -> Collection[str]:
        """Return ids and names of the images of all containers, and of those that the runtime itself needs."""
        ...

    async def image_disk(self) -> Disk:
        """Return the size and the free space of the file system that stores the images."""
        ...

    async def remove_image(self, id: str) -> None:
        """Remove an image from the runtime, by its ID."""
        ...

    async def remove_dead(self, *, of_ended_pods: bool = False) -> None:
        """Remove dead containers, and everything of Pods that no longer exist.

        `of_ended_pods`: also remove the newest containers of Pods that have ended.
        """
        ...


class GarbageCollector:
    """Keeps the disk of a node free. A `Runnable` of the manager."""

    needs_leader_election = False

    def __init__(
        self, garbage: Garbage, policy: ImagePolicy, *, clock: Clock, report: Callable[[str, str], None]
    ) -> None:
        """`report` records a warning event of the node: reason and text."""
        self._garbage = garbage
        self._policy = policy
        self._clock = clock
        self._report = report
        self._began = clock.now().timestamp()
        self._records: dict[str, ImageRecord] = {}
        self._is_first = True
        self._lock = asyncio.Lock()

    def __str__(self) -> str:
        return "garbage collection of the node"

    async def run(self) -> None:
        """Collect until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._repeat(self._garbage.remove_dead, CONTAINERS_S, "ContainerGCFailed"))
            group.create_task(self._repeat(self.collect_images, IMAGES_S, "ImageGCFailed"))

    async def _repeat(self, collect: Callable[[], Awaitable[None]], period_s: float, reason: str) -> None:
        """Collect periodically.

        Consecutive failures are reported as events, except for the first one: the node may be busy after its start.
        """
        failed = False
        while True:
            try:
                await collect()
                failed = False
            except (OSError, GarbageFailed) as error:
                _log.warning("garbage collection failed: %s", one_line(error))
                if failed:
                    self._report(reason, str(error))
                failed = True
            await asyncio.sleep(period_s)

    async def remove_dead(self) -> None:
        """Remove all dead containers, also of ended Pods, because the disk is nearly full. Raises `OSError`."""
        await self._garbage.remove_dead(of_ended_pods=True)

    async def collect_images(self) -> None:
        """Remove old images, and unused ones if the disk is too full. Raises `OSError`, `GarbageFailed`."""
        async with self._lock:
            now = await self._observe()
            await self._remove(too_old(self._records, now, self._policy, began=self._began))
            disk = await self._garbage.image_disk()
            if disk.capacity_bytes <= 0:
                message = f"invalid capacity {disk.capacity_bytes} on image filesystem"
                self._report("InvalidDiskCapacity", message)
                raise GarbageFailed(message)
            desired = bytes_to_free(disk, self._policy)
            if not desired:
                return
            _log.info(
                "disk of images is nearly full: removing unused images",
                extra={"use_percent": use_percent(disk), "bytes": desired},
            )
            freed = await self._remove(unused(self._records, now, self._policy.age_s_min), desired)
            if freed < desired:
                message = (
                    f"Failed to garbage collect required amount of images. Attempted to free {desired} bytes, "
                    f"but only found {freed} bytes eligible to free."
                )
                self._report("FreeDiskSpaceFailed", message)
                raise GarbageFailed(message)

    async def remove_unused_images(self) -> None:
        """Remove all images that no container uses. Raises `OSError`."""
        async with self._lock:
            now = await self._observe()
            await self._remove(unused(self._records, now, self._policy.age_s_min))

    async def _observe(self) -> float:
        # The time is read first: an image that is pulled meanwhile must not look old.
        now = self._clock.now().timestamp()
        images, used = await self._garbage.images(), await self._garbage.used_images()
        self._records = observed(self._records, images, used, now, is_first=self._is_first)
        self._is_first = False
        return now

    async def _remove(self, ids: Sequence[str], bytes_max: int | None = None) -> int:
        """Remove images in order until enough bytes are free.

        Returns the number of freed bytes. Raises `OSError` after the last image if one could not be removed.
        """
        freed, fault = 0, None
        for id in ids:
            if bytes_max is not None and freed >= bytes_max:
                break
            try:
                await self._garbage.remove_image(id)
            except OSError as error:
                fault = fault or error
                continue
            record = self._records.pop(id)
            freed += record.size_bytes
            _log.info("removed an unused image", extra={"image": id, "bytes": record.size_bytes})
        if fault is not None:
            desired = "" if bytes_max is None else f"wanted to free {bytes_max} bytes, but "
            raise OSError(f"{desired}freed {freed} bytes space with errors in image deletion: {fault}") from fault
        return freed
