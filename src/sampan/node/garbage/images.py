"""Image garbage collection: selects the images to remove, and computes how many bytes to free.

Times are seconds since 1970. An image that was on the node before the agent started counts as first seen at 0.
Source: kubelet pkg/kubelet/images/image_gc_manager.go (1.36).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sampan.kinds import core_v1

NEVER: Final = 0.0
_PERCENT: Final = 100


@dataclass(frozen=True, slots=True)
class ImagePolicy:
    """Limits of image garbage collection. The defaults are the kubelet's."""

    high_percent: int = 85
    """Use of the image disk from which images are removed. 100 never removes any."""
    low_percent: int = 80
    """Use of the image disk down to which images are removed."""
    age_s_min: float = 120.0
    """Time for which a new image is kept."""
    unused_s_max: float = 0.0
    """Time after which an unused image is removed, whatever the use of the disk; 0 for no limit."""

    def check(self) -> None:
        """Raise `ValueError` for limits that contradict each other."""
        if self.low_percent >= self.high_percent:
            raise ValueError(
                f"--image-gc-low-threshold: {self.low_percent} must be lower than --image-gc-high-threshold, "
                f"which is {self.high_percent}"
            )
        if 0 < self.unused_s_max <= self.age_s_min:
            raise ValueError("--image-maximum-gc-age must be more than --minimum-image-ttl-duration")


@dataclass(frozen=True, slots=True)
class Disk:
    """Size and free space of a file system."""

    capacity_bytes: int
    available_bytes: int
    inodes: int = 0
    inodes_free: int = 0
    device: int = 0
    """Device number of the file system."""


@dataclass(frozen=True, slots=True)
class ImageInStore:
    """Image that the runtime has."""

    id: str
    names: Sequence[str]
    """Digests, then tags."""
    size_bytes: int
    is_pinned: bool = False
    """True if the runtime itself needs it."""


@dataclass(frozen=True, slots=True)
class ImageRecord:
    """Times of an image."""

    first_seen: float
    last_used: float
    size_bytes: int
    is_pinned: bool


REPORTED_MAX: Final = 50
NAMES_MAX: Final = 5


def reported(images: Iterable[ImageInStore]) -> list[core_v1.ContainerImage]:
    """Return the images for the status of a Node: the largest ones, with a limited number of names for each.

    Source: kubelet pkg/kubelet/nodestatus/setters.go `Images` (1.36).
    """
    largest = sorted(images, key=lambda each: each.size_bytes, reverse=True)[:REPORTED_MAX]
    return [{"names": list(each.names[:NAMES_MAX]), "sizeBytes": each.size_bytes} for each in largest]


Records = Mapping[str, ImageRecord]
"""Images by id."""


def observed(
    records: Records, images: Sequence[ImageInStore], used: Collection[str], now: float, *, is_first: bool
) -> dict[str, ImageRecord]:
    """Return the records, updated from a list of the runtime's images.

    `used`: ids and names of the images of all containers. `is_first`: True for the first list of this agent.
    """
    found = {}
    for image in images:
        before = records.get(image.id)
        is_used = image.id in used or any(name in used for name in image.names)
        found[image.id] = ImageRecord(
            before.first_seen if before is not None else NEVER if is_first else now,
            now if is_used else before.last_used if before is not None else NEVER,
            image.size_bytes,
            image.is_pinned,
        )
    return found


def use_percent(disk: Disk) -> int:
    """Return the use of a disk in percent, rounded up as the kubelet does."""
    return _PERCENT - disk.available_bytes * _PERCENT // disk.capacity_bytes


def bytes_to_free(disk: Disk, policy: ImagePolicy) -> int:
    """Return how many bytes of images to remove; 0 while the use is below the high threshold."""
    if policy.high_percent >= _PERCENT or use_percent(disk) < policy.high_percent:
        return 0
    return max(0, disk.capacity_bytes * (_PERCENT - policy.low_percent) // _PERCENT - disk.available_bytes)


def unused(records: Records, now: float, age_s_min: float) -> list[str]:
    """Return the images that may be removed, the least recently used first."""
    found = [
        (record.last_used, record.first_seen, id)
        for id, record in records.items()
        if not record.is_pinned and record.last_used < now and now - record.first_seen >= age_s_min
    ]
    return [id for _, _, id in sorted(found)]


def too_old(records: Records, now: float, policy: ImagePolicy, *, began: float) -> list[str]:
    """Return the images that were unused for too long.

    `began`: the agent's start. The use of images before that time is unknown.
    """
    if policy.unused_s_max <= 0 or now - began <= policy.unused_s_max:
        return []
    return [
        id
        for id in unused(records, now, policy.age_s_min)
        if now - max(records[id].last_used, records[id].first_seen) > policy.unused_s_max
    ]
