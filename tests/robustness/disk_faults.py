"""Faults of the disks of etcds (`disks.Disk`)."""

from tests.robustness.disks import Disk
from tests.robustness.scene import Fault, Scene


async def disks_full(scene: Scene) -> None:
    """One to three etcds have no space left. An etcd that cannot write ends; it is started when there is space."""
    chosen = _some(scene, scene.random.randint(1, 3))
    for disk in chosen:
        disk.fill()
    await scene.hold(1, 5)
    for disk in chosen:
        disk.free()
    await scene.machines.revive()


async def leaders_disk_hangs(scene: Scene) -> None:
    """The leader goes on talking, and gets nothing written."""
    leader = await scene.machines.leader()
    disk = scene.machines.disks[scene.machines.members.index(leader)]
    disk.freeze()
    await scene.hold(1, 5)
    disk.thaw()


async def disks_slow(scene: Scene) -> None:
    """Writes and fsyncs of most etcds take up to half a second."""
    chosen = _some(scene, 2)
    for _ in range(10):
        for disk in chosen:
            disk.freeze()
        await scene.hold(0.1, 0.5)
        for disk in chosen:
            disk.thaw()
        await scene.hold(0.01, 0.1)


def _some(scene: Scene, number: int) -> list[Disk]:
    return scene.random.sample(scene.machines.disks, number)


DISK_FAULTS: tuple[Fault, ...] = (disks_full, leaders_disk_hangs, disks_slow)
