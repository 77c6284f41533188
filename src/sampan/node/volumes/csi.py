"""`CsiVolume`: volume of a CSI driver, as a Pod uses it.

`CsiPort`: interface of the part of the node that mounts CSI volumes.

Source: kubernetes pkg/volume/csi/{csi_plugin,csi_mounter}.go (1.36).
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from sampan.node.references import Claim, Missing, PersistentVolume, SecretReference
from sampan.node.views.pod import Pod
from sampan.node.views.volume_sources import Volume
from sampan.node.volumes.mounts import MountedVolume

PLUGIN: Final = "kubernetes.io~csi"
"""Directory of CSI volumes in a Pod's `volumes` and `volumeDevices`."""


class VolumeFault(Exception):
    """A volume cannot be mounted yet. The message is the same as the kubelet's."""

    def __init__(self, text: str, *, volume: str, action: str = "MountVolume.SetUp", is_wait: bool = False) -> None:
        """`volume`: name for the event.

        `is_wait`: True if the agent waits for another program, so that this is not a failure.
        """
        super().__init__(text)
        self.volume = volume
        self.action = action
        self.is_wait = is_wait


@dataclass(frozen=True, slots=True)
class CsiVolume:
    """Volume of a driver in a Pod."""

    pod: Pod
    name: str
    """Name in the Pod."""
    spec_name: str
    """Name of the PersistentVolume; for an inline volume, the name of the volume itself."""
    driver: str
    handle: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    fs_type: str = ""
    read_only: bool = False
    """True if the claim or the PersistentVolume is mounted read-only."""
    access_modes: Sequence[str] = ("ReadWriteOnce",)
    mount_options: Sequence[str] = ()
    stage_secret: SecretReference | None = None
    publish_secret: SecretReference | None = None
    expand_secret: SecretReference | None = None
    is_block: bool = False
    claim: Claim | None = None
    """Claim of the volume; None for an inline volume."""
    capacity: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Driver and handle. They identify the volume for all Pods that use it."""
        return self.driver, self.handle

    @property
    def is_inline(self) -> bool:
        """True if the Pod defines the volume, which then lives as long as the Pod."""
        return self.claim is None


@dataclass(frozen=True, slots=True)
class CsiMounted:
    """Mounted volume of a driver."""

    volume: MountedVolume
    due_at: float | None = None
    """Time at which the volume must be published again, in seconds since 1970."""


class CsiPort(Protocol):
    """Mounts volumes of drivers. All methods can be repeated."""

    async def mount(self, volume: CsiVolume) -> CsiMounted:
        """Mount a volume. Raises `VolumeFault`, `Missing`, `Unreadable`, `ValueError`, `OSError`."""
        ...

    async def unmount(self, uid: str) -> None:
        """Unmount all volumes of a Pod whose containers have ended. Raises `VolumeFault`, `OSError`."""
        ...

    def recover(self, uids: set[str]) -> None:
        """Unmount the volumes of all Pods but these, in the background."""
        ...

    def stats(self, uid: str) -> Sequence[Mapping[str, Any]]:
        """Return the newest statistics of a Pod's volumes, as in /stats/summary."""
        ...


def claimed(pod: Pod, volume: Volume, claim: Claim, found: PersistentVolume) -> CsiVolume:
    """Return the volume behind a claim. Raises `Missing` if its PersistentVolume has no CSI source."""
    source, spec = found.spec.csi, found.spec
    if source is None:
        raise Missing(f'PV "{found.metadata.name}" has no CSI source')
    use = volume.persistent_volume_claim
    return CsiVolume(
        pod,
        volume.name,
        found.metadata.name,
        source.driver,
        source.volume_handle,
        source.volume_attributes,
        source.fs_type,
        source.read_only or (use is not None and use.read_only),
        spec.access_modes or ("ReadWriteOnce",),
        spec.mount_options,
        source.node_stage_secret_ref,
        source.node_publish_secret_ref,
        source.node_expand_secret_ref,
        claim.spec.volume_mode == "Block",
        claim,
        str(spec.capacity.get("storage", "")),
    )


def inline(pod: Pod, volume: Volume) -> CsiVolume:
    """Return a volume that the Pod defines itself. Raises `ValueError` for any other kind of volume."""
    source = volume.csi
    if source is None:
        raise ValueError(f'volume "{volume.name}" has no CSI source')
    digest = hashlib.sha256(f"{pod.metadata.uid}{volume.name}".encode()).hexdigest()
    secret = source.node_publish_secret_ref
    reference = None if secret is None else SecretReference(secret.name, pod.metadata.namespace)
    return CsiVolume(
        pod,
        volume.name,
        volume.name,
        source.driver,
        f"csi-{digest}",
        source.volume_attributes,
        source.fs_type,
        source.read_only,
        publish_secret=reference,
    )
