"""`MachineMeter`: memory, disks and process ids of this machine, and their use by Pods.

Source: kubelet pkg/kubelet/eviction/helpers.go `makeSignalObservations`, pkg/kubelet/stats/pidlimit (1.36).
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, Protocol

from sampan.node.admission.demand import demand_of
from sampan.node.admission.node_state import is_critical
from sampan.node.beneath import opened, walk
from sampan.node.eviction.pressure import Signals, SignalValue
from sampan.node.eviction.ranking import ContainerUse, DiskUse, PodUse
from sampan.node.eviction.thresholds import IMAGE_FS, IMAGE_INODES, MEMORY, NODE_FS, NODE_INODES, PIDS
from sampan.node.garbage.images import Disk
from sampan.node.server.hosted import HostedPod
from sampan.node.views.pod import Pod

_BLOCK_BYTES: Final = 512
_PROC: Final = Path("/proc")


class Meter(Protocol):
    """Measures a node and its Pods."""

    @property
    def has_image_disk(self) -> bool:
        """True if images and containers have their own file system. Known after the first `signals`."""
        ...

    async def signals(self) -> Signals:
        """Return the signals that can be read now."""
        ...

    async def use(self, hosted: HostedPod, *, with_files: bool = True) -> PodUse:
        """Return what a Pod uses. `with_files`: measure its logs and volumes, which takes time."""
        ...


class MachineMeter:
    """Reads the free memory, disk space, inodes and process ids of this machine, and the usage of Pods."""

    def __init__(
        self,
        root: Path,
        *,
        image_disk: Callable[[], Awaitable[Disk]] | None = None,
        log_directory: Callable[[Pod, str], Path | None] = lambda pod, container: None,
    ) -> None:
        """`root`: directory of the agent.

        `image_disk`: returns the space for images; None if they are on the disk of `root`.

        `log_directory` returns the directory of a container's logs; None if it has none.
        """
        self._root = root
        self._image_disk = image_disk
        self._log_directory = log_directory
        self.has_image_disk = False

    async def signals(self) -> Signals:
        """Return the signals. Raises `OSError`."""
        found = await asyncio.to_thread(_machine_signals)
        disk = await asyncio.to_thread(disk_of, self._root)
        image_disk = await self._disk_of_images(disk)
        self.has_image_disk = image_disk.device != disk.device
        found[NODE_FS] = SignalValue(disk.available_bytes, disk.capacity_bytes)
        found[IMAGE_FS] = SignalValue(image_disk.available_bytes, image_disk.capacity_bytes)
        # Some file systems, such as btrfs, have no fixed number of inodes.
        if disk.inodes:
            found[NODE_INODES] = SignalValue(disk.inodes_free, disk.inodes)
        if image_disk.inodes:
            found[IMAGE_INODES] = SignalValue(image_disk.inodes_free, image_disk.inodes)
        return found

    async def _disk_of_images(self, disk: Disk) -> Disk:
        """Return the space for images; that of the agent's disk while the runtime does not respond."""
        if self._image_disk is None:
            return disk
        try:
            return await self._image_disk()
        except OSError:
            return disk

    async def use(self, hosted: HostedPod, *, with_files: bool = True) -> PodUse:
        """Return the resources that a Pod uses.

        The runtime provides the use by containers; files are measured in their directories.
        """
        pod = hosted.pod
        uid = pod.metadata.uid
        usages = await hosted.runtime.usage(uid)
        logs, volumes = await asyncio.to_thread(self._files, pod) if with_files else ({}, {})
        containers = [
            ContainerUse(
                each.name,
                usages[each.name].memory_bytes if each.name in usages else 0,
                DiskUse(usages[each.name].disk_bytes, usages[each.name].inodes) if each.name in usages else DiskUse(),
                logs.get(each.name, DiskUse()),
                each.resources.requests,
            )
            for each in (*pod.spec.containers, *pod.spec.init_containers, *pod.spec.ephemeral_containers)
        ]
        return PodUse(
            uid,
            pod.spec.priority or 0,
            demand_of(hosted.raw).amounts(),
            containers,
            volumes,
            is_measured=bool(usages),
            is_critical=is_critical(pod),
        )

    def _files(self, pod: Pod) -> tuple[dict[str, DiskUse], dict[str, DiskUse]]:
        """Return the use of disk by the logs of each container and by each emptyDir. Blocks."""
        names = [each.name for each in (*pod.spec.containers, *pod.spec.init_containers)]
        directories = [(name, self._log_directory(pod, name)) for name in names]
        logs = {name: disk_use(directory) for name, directory in directories if directory is not None}
        volumes = self._root / "pods" / pod.metadata.uid / "volumes" / "kubernetes.io~empty-dir"
        on_disk = [
            each.name for each in pod.spec.volumes if each.empty_dir is not None and each.empty_dir.medium != "Memory"
        ]
        return logs, {name: disk_use(volumes / name) for name in on_disk}


def disk_of(path: str | Path) -> Disk:
    """Return the space of the file system of a path, as available to users other than root. Raises `OSError`."""
    found = os.statvfs(path)
    capacity, available = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
    return Disk(capacity, available, found.f_files, found.f_ffree, os.stat(path).st_dev)


def disk_use(directory: Path) -> DiskUse:
    """Return the use of disk below a directory, without other file systems. A hard link counts once. Blocks.

    Files that disappear during the measurement do not count.
    """
    size, inodes, linked = 0, 0, set()
    try:
        with opened(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)) as fd:
            top = os.fstat(fd)
            size, inodes = top.st_blocks, 1
            for each in walk(fd):
                found = each.status
                if found.st_dev != top.st_dev or (found.st_nlink > 1 and found.st_ino in linked):
                    continue
                if found.st_nlink > 1 and not each.is_directory:
                    linked.add(found.st_ino)
                size += found.st_blocks
                inodes += 1
    except OSError:
        pass  # A container has moved a directory; what was measured before counts.
    return DiskUse(size * _BLOCK_BYTES, inodes)


def _machine_signals() -> dict[str, SignalValue]:
    found = {MEMORY: memory_of((_PROC / "meminfo").read_text())}
    limits = (int((_PROC / "sys/kernel" / name).read_text()) for name in ("pid_max", "threads-max"))
    # The fourth field of loadavg is RUNNING/ALL threads.
    threads = int((_PROC / "loadavg").read_text().split()[3].partition("/")[2])
    limit = min(limits)
    found[PIDS] = SignalValue(limit - threads, limit)
    return found


def memory_of(meminfo: str) -> SignalValue:
    """Return the available memory of a machine: free memory, and caches of files that were not used recently."""
    lines = (line.split() for line in meminfo.splitlines())
    kibibytes = {words[0].rstrip(":"): int(words[1]) for words in lines if len(words) > 1}
    return SignalValue((kibibytes["MemFree"] + kibibytes["Inactive(file)"]) * 1024, kibibytes["MemTotal"] * 1024)
