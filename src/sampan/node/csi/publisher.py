"""`Publisher`: calls of drivers that stage and publish volumes, and that undo both.

It writes a record to disk before each call. If the error proves that the driver has done nothing, it deletes the
record; otherwise the volume may be mounted, and must be unmounted.
Source: kubernetes pkg/volume/csi/{csi_attacher,csi_mounter,csi_block}.go (1.36).
"""

from collections.abc import Mapping

from sampan.csi.errors import CsiError
from sampan.node.csi.drivers import MOUNT_GROUP, STAGE, RegisteredDriver
from sampan.node.csi.paths import CsiPaths
from sampan.node.csi.records import Published, Records, Staged
from sampan.node.csi.requests import Requests, capability
from sampan.node.references import CsiDriver
from sampan.node.volumes.csi import CsiVolume, VolumeFault


class Publisher:
    """Calls for the volumes of one node. The caller serializes those for the same volume."""

    def __init__(self, paths: CsiPaths, records: Records, requests: Requests) -> None:
        self._paths = paths
        self._records = records
        self._requests = requests

    async def stage(
        self, volume: CsiVolume, driver: RegisteredDriver, attachment: str, context: Mapping[str, str]
    ) -> None:
        """Stage a volume. Raises `VolumeFault`, `Missing`, `Unreadable`, `OSError`."""
        secrets = await self._requests.secrets(volume.stage_secret)
        self._records.add_staged(volume, attachment)
        try:
            await driver.client.call(
                "NodeStageVolume",
                volume_id=volume.handle,
                publish_context=dict(context),
                staging_target_path=str(self._paths.staging_path(volume)),
                volume_capability=capability(volume, driver, group=_group(volume, driver)),
                secrets=secrets,
                volume_context=dict(volume.attributes),
            )
        except CsiError as error:
            if error.is_final:
                self._drop_staged(volume)
            action = "MapVolume.SetUpDevice" if volume.is_block else "MountVolume.MountDevice"
            raise VolumeFault(str(error), volume=volume.spec_name, action=action) from error

    def _drop_staged(self, volume: CsiVolume) -> None:
        for staged in self._records.staged():
            if staged.key == volume.key:
                self._records.drop_staged(staged)

    async def publish(
        self,
        volume: CsiVolume,
        driver: RegisteredDriver,
        details: CsiDriver | None,
        *,
        attachment: str,
        context: Mapping[str, str],
        is_again: bool,
    ) -> None:
        """Publish a volume for a Pod.

        `is_again`: the volume is published already, so an error does not undo the publication.

        Raises `VolumeFault`, `Missing`, `Unreadable`, `OSError`.
        """
        given = await self._requests.secrets(volume.publish_secret)
        volume_context, secrets = await self._requests.context(volume, details, given)
        self._records.add_published(volume, attachment)
        stages = STAGE in driver.capabilities and not volume.is_inline
        try:
            await driver.client.call(
                "NodePublishVolume",
                volume_id=volume.handle,
                publish_context=dict(context),
                staging_target_path=str(self._paths.staging_path(volume)) if stages else "",
                target_path=str(self._target(volume)),
                volume_capability=capability(volume, driver, group=_group(volume, driver)),
                readonly=volume.read_only,
                secrets=secrets,
                volume_context=volume_context,
            )
        except CsiError as error:
            if error.is_final and not is_again:
                self._drop_published(volume)
            action = "MapVolume.MapPodDevice" if volume.is_block else "MountVolume.SetUp"
            raise VolumeFault(str(error), volume=volume.spec_name, action=action) from error

    def _drop_published(self, volume: CsiVolume) -> None:
        for published in self._records.published(volume.pod.metadata.uid):
            if published.spec_name == volume.spec_name and published.key == volume.key:
                self._records.drop_published(published)

    def _target(self, volume: CsiVolume) -> str:
        return str(self._paths.target(volume.pod.metadata.uid, volume.spec_name, is_block=volume.is_block))

    async def unpublish(self, published: Published, driver: RegisteredDriver) -> None:
        """Undo `publish`. Raises `CsiError`, `OSError`."""
        target = self._paths.target(published.uid, published.spec_name, is_block=published.is_block)
        handle = published.data.volume_handle
        await driver.client.call("NodeUnpublishVolume", volume_id=handle, target_path=str(target))
        self._records.drop_published(published)

    async def unstage(self, staged: Staged, driver: RegisteredDriver) -> None:
        """Undo `stage`. Raises `CsiError`, `OSError`."""
        if STAGE in driver.capabilities:
            handle = staged.data.volume_handle
            await driver.client.call("NodeUnstageVolume", volume_id=handle, staging_target_path=str(staged.path))
        self._records.drop_staged(staged)


def _group(volume: CsiVolume, driver: RegisteredDriver) -> int | None:
    """Return the fsGroup if the driver applies it."""
    return volume.pod.spec.security_context.fs_group if MOUNT_GROUP in driver.capabilities else None
