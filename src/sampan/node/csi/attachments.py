"""`Attachments`: waits until a volume is attached to the node, and reports the volumes that are in use.

A volume is reported as in use before it is mounted, so that the attach-detach controller does not detach it. The
controller removes a volume from `volumesAttached` before it reads `volumesInUse`. Therefore the node reports the volume
first, and reads `volumesAttached` last.
Source: kubernetes pkg/volume/csi/csi_attacher.go `waitForVolumeAttachment`, pkg/kubelet/volumemanager (1.36).
"""

from collections.abc import Mapping

from sampan.client import ClientError
from sampan.csi.names import attachment_name, unique_volume_name
from sampan.node.csi.node_object import NodeObject
from sampan.node.references import CsiDriver, References, Unreadable
from sampan.node.volumes.csi import CsiVolume, VolumeFault


def needs_attachment(volume: CsiVolume, driver: CsiDriver | None) -> bool:
    """Return whether a volume must be attached before it is mounted."""
    return not volume.is_inline and (driver is None or driver.spec.attach_required)


class Attachments:
    """Attachments of one node."""

    def __init__(self, references: References, node: str, node_object: NodeObject) -> None:
        self._references = references
        self._node = node
        self._node_object = node_object
        self._in_use: set[tuple[str, str]] = set()

    def name(self, volume: CsiVolume) -> str:
        """Return the name of the volume's VolumeAttachment."""
        return attachment_name(volume.driver, volume.handle, self._node)

    async def publish_context(self, volume: CsiVolume) -> Mapping[str, str]:
        """Return the context that the attachment contains for the driver.

        Raises `VolumeFault` while the volume is not attached, and `Unreadable`.
        """
        await self.use(volume.key)
        name = self.name(volume)
        found = await self._references.volume_attachment(name)
        is_attached = found is not None and found.status.attached and found.metadata.deletion_timestamp is None
        if found is not None and is_attached and await self._is_kept(volume):
            return found.status.attachment_metadata
        if found is None:
            state = "it does not exist"
        elif is_attached:
            state = "the node's volumesAttached does not have the volume"
        elif found.metadata.deletion_timestamp is not None:
            state = "it is being deleted"
        elif found.status.attach_error is not None:
            state = found.status.attach_error.message
        else:
            state = "status.attached is false"
        text = f'waiting for {volume.driver} to attach volume "{volume.handle}": VolumeAttachment {name}: {state}'
        raise VolumeFault(text, volume=volume.spec_name, action="MountVolume.WaitForAttach", is_wait=True)

    async def _is_kept(self, volume: CsiVolume) -> bool:
        """Return whether the controller keeps a volume attached while the node reports it as in use."""
        try:
            return unique_volume_name(*volume.key) in await self._node_object.attached()
        except ClientError as error:
            raise Unreadable(f"cannot read the node's volumesAttached: {error}") from error

    async def use(self, *keys: tuple[str, str]) -> None:
        """Report volumes as in use. Raises `Unreadable`."""
        self._in_use.update(keys)
        await self._report()

    async def release(self, key: tuple[str, str]) -> None:
        """Report that a volume may be detached. Raises `Unreadable`."""
        self._in_use.discard(key)
        await self._report()

    async def _report(self) -> None:
        try:
            await self._node_object.report_in_use(unique_volume_name(*key) for key in self._in_use)
        except ClientError as error:
            raise Unreadable(f"cannot write the node's volumesInUse: {error}") from error
