"""Service Node of the test driver: bind mounts of a volume's directory, or of the loop device of its file."""

from pathlib import Path
from typing import Any

import grpc

from sampan.csi.messages import message
from tests.e2e.csi.settings import Refused, Settings, capability_messages
from tests.e2e.csi.store import Store, Volume, bind, detach_loop, loop_of, unbind


class Node:
    """Stages and publishes volumes."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store

    def NodeGetInfo(self, request: Any) -> dict[str, Any]:
        found = {"node_id": self._settings.node, "max_volumes_per_node": self._settings.max_volumes}
        if not self._settings.topology:
            return found
        return {**found, "accessible_topology": message("Topology")(segments=self._settings.topology)}

    def NodeGetCapabilities(self, request: Any) -> dict[str, Any]:
        return {"capabilities": capability_messages("Node", self._settings.node_can)}

    def NodeStageVolume(self, request: Any) -> dict[str, Any]:
        found = self._volume(request.volume_id)
        if not request.volume_capability.HasField("block"):
            bind(str(self._store.content(found.id)), Path(request.staging_target_path))
        return {}

    def NodeUnstageVolume(self, request: Any) -> dict[str, Any]:
        unbind(Path(request.staging_target_path), remove=False)
        detach_loop(self._store.image(request.volume_id))
        return {}

    def NodePublishVolume(self, request: Any) -> dict[str, Any]:
        target = Path(request.target_path)
        if request.volume_context.get("csi.storage.k8s.io/ephemeral") == "true":
            with self._store.change():
                if request.volume_id not in self._store.volumes:
                    self._store.create(Volume(request.volume_id, request.volume_id, 1 << 20))
        found = self._volume(request.volume_id)
        if request.volume_capability.HasField("block"):
            image = self._store.image(found.id)
            bind(loop_of(image, create=True), target, read_only=False)
        else:
            bind(str(self._store.content(found.id)), target, read_only=request.readonly)
        return {}

    def NodeUnpublishVolume(self, request: Any) -> dict[str, Any]:
        unbind(Path(request.target_path), remove=True)
        if request.volume_id.startswith("csi-"):
            with self._store.change():
                self._store.delete(request.volume_id)
        return {}

    def NodeExpandVolume(self, request: Any) -> dict[str, Any]:
        self._volume(request.volume_id)
        return {"capacity_bytes": request.capacity_range.required_bytes}

    def NodeGetVolumeStats(self, request: Any) -> dict[str, Any]:
        found = self._volume(request.volume_id)
        if not Path(request.volume_path).exists():
            raise Refused(grpc.StatusCode.NOT_FOUND, f"{request.volume_path} does not exist")
        files = [each for each in self._store.content(found.id).rglob("*") if each.is_file()]
        used = sum(each.stat().st_size for each in files)
        usage = message("VolumeUsage")
        return {
            "usage": [
                usage(unit=1, total=found.capacity, used=used, available=found.capacity - used),
                usage(unit=2, total=1000, used=len(files), available=1000 - len(files)),
            ]
        }

    def _volume(self, id: str) -> Volume:
        """Return a volume. An unknown one is created, so that tests can write PersistentVolumes by hand."""
        with self._store.change():
            if id not in self._store.volumes:
                self._store.create(Volume(id, id, 1 << 30, is_block=id.startswith("block-")))
            return self._store.volumes[id]
