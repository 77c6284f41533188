"""`CsiMounts`: mounts the volumes of drivers for Pods, and unmounts them.

Concurrency: a lock for each volume serializes its calls. Any task may call the methods. `sweep` runs in the task of the
agent.
Guarantees: the state is on disk (`records.py`). The state in memory only avoids repeated calls: after a restart, a
driver stages and publishes a volume again, which CSI allows.
Source: kubernetes pkg/kubelet/volumemanager/reconciler, pkg/volume/csi (1.36).
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final
from weakref import WeakValueDictionary

import grpc

from sampan.core.time import Clock
from sampan.csi.errors import CsiError
from sampan.node.csi.attachments import Attachments, needs_attachment
from sampan.node.csi.drivers import MOUNT_GROUP, STAGE, Drivers, RegisteredDriver
from sampan.node.csi.paths import CsiPaths
from sampan.node.csi.publisher import Publisher
from sampan.node.csi.records import Published, Records, Staged
from sampan.node.references import CsiDriver, References, Unreadable
from sampan.node.volumes.csi import CsiMounted, CsiVolume, VolumeFault
from sampan.node.volumes.mounts import MountedVolume
from sampan.node.volumes.ownership import give_to_group, wants_group

REPUBLISH_S: Final = 60.0
"""Period in which drivers with requiresRepublish publish a volume again."""
_NO_DRIVER: Final = "kubernetes.io/csi: {} failed to get CSI client: {}"

_log = logging.getLogger("sampan.node")
Key = tuple[str, str]


@dataclass(slots=True)
class Mounted:
    """Volume that this agent has mounted for a Pod."""

    volume: CsiVolume
    due_at: float | None


class CsiMounts:
    """CSI volumes of one node."""

    def __init__(
        self,
        paths: CsiPaths,
        records: Records,
        drivers: Drivers,
        *,
        attachments: Attachments,
        publisher: Publisher,
        references: References,
        clock: Clock,
        exhausted: Callable[[RegisteredDriver], None] = lambda driver: None,
    ) -> None:
        """`exhausted` is called with a driver that cannot have more volumes on this node."""
        self._paths = paths
        self._records = records
        self._drivers = drivers
        self._attachments = attachments
        self._publisher = publisher
        self._references = references
        self._clock = clock
        self._exhausted = exhausted
        self._locks: WeakValueDictionary[Key, asyncio.Lock] = WeakValueDictionary()
        self._staged: set[Key] = set()
        self._users: dict[Key, set[str]] = {}
        """Pods that use a volume or wait for it."""
        self._mounted: dict[tuple[str, str], Mounted] = {}
        """Mounted volumes, by the Pod's uid and the volume's name in the Pod."""
        self._waiting: dict[str, set[str]] = {}
        """Keys of Pods by the driver that they wait for."""

    # ---- mounts

    async def mount(self, volume: CsiVolume) -> CsiMounted:
        """Mount a volume for a Pod, unless it is mounted. Raises `VolumeFault`, `Missing`, `Unreadable`, `OSError`."""
        uid = volume.pod.metadata.uid
        known = self._mounted.get((uid, volume.name))
        # Without the lock: this is the usual case, at each sync of each Pod.
        if known is not None and (known.due_at is None or known.due_at > self._now()):
            return self._result(known)
        async with self.lock(volume.key):
            details = await self._references.csi_driver(volume.driver)
            _check_mode(volume, details)
            driver = self._driver(volume)
            # Before the call: a failed mount may have staged the volume, and the Pod's end must then unstage it.
            self._users.setdefault(volume.key, set()).add(uid)
            try:
                await self._mount(volume, driver, details, is_again=known is not None)
            except VolumeFault as fault:
                self._report_exhausted(fault, driver)
                raise
            due_at = self._now() + REPUBLISH_S if details is not None and details.spec.requires_republish else None
            mounted = self._mounted[uid, volume.name] = Mounted(volume, due_at)
            await self._give(volume, driver, details, is_again=known is not None)
            return self._result(mounted)

    async def _mount(
        self, volume: CsiVolume, driver: RegisteredDriver, details: CsiDriver | None, *, is_again: bool
    ) -> None:
        attaches = needs_attachment(volume, details)
        context = await self._attachments.publish_context(volume) if attaches else {}
        attachment = self._attachments.name(volume) if attaches else ""
        if STAGE in driver.capabilities and not volume.is_inline and volume.key not in self._staged:
            await self._publisher.stage(volume, driver, attachment, context)
            # After success only, so that the next attempt stages again.
            self._staged.add(volume.key)
        await self._publisher.publish(
            volume, driver, details, attachment=attachment, context=context, is_again=is_again
        )

    async def _give(
        self, volume: CsiVolume, driver: RegisteredDriver, details: CsiDriver | None, *, is_again: bool
    ) -> None:
        """Let the Pod's fsGroup own a volume after its first mount, unless the driver does it."""
        security = volume.pod.spec.security_context
        group, by_driver = security.fs_group, MOUNT_GROUP in driver.capabilities
        if group is None or by_driver or is_again or volume.is_block or volume.read_only:
            return
        if wants_group(volume, details):
            path = self._paths.target(volume.pod.metadata.uid, volume.spec_name, is_block=False)
            only_on_mismatch = security.fs_group_change_policy == "OnRootMismatch"
            try:
                await asyncio.to_thread(give_to_group, path, group, only_on_mismatch=only_on_mismatch)
            except OSError as error:
                # The volume counts as not mounted, so that the next sync tries the group again before containers start.
                del self._mounted[volume.pod.metadata.uid, volume.name]
                text = f"applyFSGroup failed for vol {volume.handle}: {error}"
                raise VolumeFault(text, volume=volume.spec_name) from error

    def _driver(self, volume: CsiVolume) -> RegisteredDriver:
        try:
            return self._drivers.get(volume.driver)
        except LookupError as error:
            self._waiting.setdefault(volume.driver, set()).add(volume.pod.key)
            text = _NO_DRIVER.format("mounter.SetUpAt", error.args[0])
            raise VolumeFault(text, volume=volume.spec_name) from None

    def waiting(self, driver: str) -> set[str]:
        """Return the keys of the Pods that wait for a driver, and remove them from the waiting Pods."""
        return self._waiting.pop(driver, set())

    def _report_exhausted(self, fault: VolumeFault, driver: RegisteredDriver) -> None:
        cause = fault.__cause__
        if isinstance(cause, CsiError) and cause.code is grpc.StatusCode.RESOURCE_EXHAUSTED:
            self._exhausted(driver)

    def _result(self, mounted: Mounted) -> CsiMounted:
        volume = mounted.volume
        path = self._paths.target(volume.pod.metadata.uid, volume.spec_name, is_block=volume.is_block)
        found = MountedVolume(path, read_only=volume.read_only, is_device=volume.is_block)
        return CsiMounted(found, mounted.due_at)

    def mounted(self) -> list[CsiVolume]:
        """Return all volumes that are mounted."""
        return [each.volume for each in self._mounted.values()]

    def has(self, uid: str, name: str) -> bool:
        """Return whether a volume is mounted for a Pod."""
        return (uid, name) in self._mounted

    def lock(self, key: Key) -> asyncio.Lock:
        """Return the lock of a volume."""
        found = self._locks.get(key)
        if found is None:
            found = self._locks[key] = asyncio.Lock()
        return found

    def _now(self) -> float:
        return self._clock.now().timestamp()

    # ---- the end of Pods

    async def unmount(self, uid: str) -> None:
        """Unpublish all volumes of a Pod, and unstage those that no other Pod uses.

        Raises `VolumeFault` and `OSError` if a volume may still be published. Volumes that cannot be unstaged are
        tried again by `sweep`.
        """
        for published in list(self._records.published(uid)):
            async with self.lock(published.key):
                await self._unpublish(published)
        for each in [each for each in self._mounted if each[0] == uid]:
            del self._mounted[each]
        for key in [key for key, users in self._users.items() if uid in users]:
            async with self.lock(key):
                await self._drop_user(key, uid)

    async def _unpublish(self, published: Published) -> None:
        name = published.data.driver_name
        try:
            await self._publisher.unpublish(published, self._drivers.get(name))
        except (LookupError, CsiError) as error:
            if isinstance(error, LookupError):
                keys = (each.volume.pod.key for (uid, _), each in self._mounted.items() if uid == published.uid)
                self._waiting.setdefault(name, set()).update(keys)
            text = error.args[0] if isinstance(error, LookupError) else str(error)
            action = "UnmountVolume.TearDown" if not published.is_block else "UnmapVolume.UnmapPodDevice"
            raise VolumeFault(text, volume=published.spec_name, action=action) from error
        self._users.setdefault(published.key, set()).add(published.uid)  # So that the volume is unstaged next.

    async def _drop_user(self, key: Key, uid: str) -> None:
        users = self._users.get(key, set())
        users.discard(uid)
        if users:
            return
        self._users.pop(key, None)
        # Another Pod still has it published, as recorded on disk, perhaps by an earlier agent.
        if any(each.key == key for each in self._records.published()):
            return
        try:
            await self._unstage(key)
        except (CsiError, OSError, LookupError, Unreadable) as error:
            _log.warning("cannot unstage volume %s of driver %s, retrying: %s", key[1], key[0], error)

    async def _unstage(self, key: Key) -> None:
        # Before the call: after a failure, the state of the volume is unknown, and it must be staged again.
        self._staged.discard(key)
        for staged in [each for each in self._records.staged() if each.key == key]:
            await self._publisher.unstage(staged, self._drivers.get(key[0]))
        # Last: a volume must not be detached from the node while it is mounted.
        await self._attachments.release(key)

    async def sweep(self, is_gone: Callable[[str], bool]) -> bool:
        """Unmount the volumes of Pods that no longer exist, and unstage volumes without Pods.

        Returns False if any of them must be retried.
        """
        done = True
        for uid in {each.uid for each in self._records.published() if is_gone(each.uid)}:
            try:
                await self.unmount(uid)
            except (VolumeFault, OSError) as error:
                done = False
                _log.warning("cannot unmount the volumes of pod %s, which no longer exists, retrying: %s", uid, error)
        for staged in self._unused():
            async with self.lock(staged.key):
                # Checked again under the lock, because a Pod may have requested the volume meanwhile.
                if staged.key not in self._users:
                    await self._drop_user(staged.key, "")
                    done = done and not staged.directory.exists()
        return done

    def _unused(self) -> Iterator[Staged]:
        published = {each.key for each in self._records.published()}
        yield from (each for each in self._records.staged() if each.key not in published)

    def recorded_in_use(self) -> set[Key]:
        """Return the attached volumes that an earlier agent has used."""
        found: list[Staged | Published] = [*self._records.staged(), *self._records.published()]
        return {each.key for each in found if each.data.attachment_id}


def _check_mode(volume: CsiVolume, details: CsiDriver | None) -> None:
    """Raise `VolumeFault` unless the driver supports the volume's lifecycle mode."""
    if details is None and not volume.is_inline:
        return
    desired = "Ephemeral" if volume.is_inline else "Persistent"
    text = f'volume mode "{desired}" not supported by driver {volume.driver}'
    if details is None:
        raise VolumeFault(f"{text} (no CSIDriver object)", volume=volume.spec_name)
    modes = details.spec.volume_lifecycle_modes or ["Persistent"]
    if desired not in modes:
        shown = ", ".join(f'"{each}"' for each in modes)
        raise VolumeFault(f"{text} (only supports [{shown}])", volume=volume.spec_name)
