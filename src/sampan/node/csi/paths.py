"""Paths of CSI volumes below the directory of a node.

Source: kubernetes pkg/volume/csi/{csi_attacher,csi_mounter,csi_block}.go (1.36).
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from sampan.node.volumes.csi import PLUGIN, CsiVolume

DATA_FILE = "vol_data.json"


@dataclass(frozen=True, slots=True)
class CsiPaths:
    """Paths of one node."""

    root: Path

    @property
    def registry(self) -> Path:
        """Directory of the sockets by which drivers register."""
        return self.root / "plugins_registry"

    @property
    def plugin(self) -> Path:
        """Directory of all staged volumes."""
        return self.root / "plugins" / "kubernetes.io" / "csi"

    @property
    def devices(self) -> Path:
        """Directory of all block volumes."""
        return self.plugin / "volumeDevices"

    def staged(self, driver: str, handle: str) -> Path:
        """Return the directory of a staged volume. Next to its mount point is the data file."""
        return self.plugin / driver / hashlib.sha256(handle.encode()).hexdigest()

    def staging_path(self, volume: CsiVolume) -> Path:
        """Return the path at which a driver stages a volume."""
        if volume.is_block:
            return self.devices / "staging" / volume.spec_name
        return self.staged(volume.driver, volume.handle) / "globalmount"

    def stage_data(self, volume: CsiVolume) -> Path:
        """Return the directory of the data file of a volume that is used on this node."""
        if volume.is_block:
            return self.device_data(volume.spec_name)
        return self.staged(volume.driver, volume.handle)

    def device_data(self, spec_name: str) -> Path:
        """Return the directory of the data file of a block volume."""
        return self.devices / spec_name / "data"

    def volumes(self, uid: str) -> Path:
        """Return the directory of a Pod's volumes with file systems."""
        return self.root / "pods" / uid / "volumes" / PLUGIN

    def links(self, uid: str) -> Path:
        """Return the directory of a Pod's links to its block volumes."""
        return self.root / "pods" / uid / "volumeDevices" / PLUGIN

    def target(self, uid: str, spec_name: str, *, is_block: bool) -> Path:
        """Return the path at which a driver publishes a volume for a Pod."""
        if is_block:
            return self.devices / "publish" / spec_name / uid
        return self.volumes(uid) / spec_name / "mount"
