"""Service Controller of the test driver. Every method can be repeated."""

import hashlib
import json
import time
from typing import Any

import grpc

from sampan.csi.messages import message
from tests.e2e.csi.settings import Refused, Settings, capability_messages
from tests.e2e.csi.store import Snapshot, Store, Volume

GIB = 1 << 30


class Controller:
    """Creates, attaches and expands volumes."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store

    def ControllerGetCapabilities(self, request: Any) -> dict[str, Any]:
        return {"capabilities": capability_messages("Controller", self._settings.controller)}

    def CreateVolume(self, request: Any) -> dict[str, Any]:
        if not request.name or not request.volume_capabilities:
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, "name and volume_capabilities are required")
        desired = request.capacity_range.required_bytes or GIB
        with self._store.change():
            found = next((each for each in self._store.volumes.values() if each.name == request.name), None)
            if found is None:
                is_block = any(each.HasField("block") for each in request.volume_capabilities)
                found = Volume(_id("vol", request.name), request.name, desired, is_block, source=self._source(request))
                self._store.create(found)
            limit = request.capacity_range.limit_bytes
            if found.capacity < request.capacity_range.required_bytes or (limit and found.capacity > limit):
                raise Refused(grpc.StatusCode.ALREADY_EXISTS, f"volume {request.name} has {found.capacity} bytes")
        return {"volume": self._volume(found, dict(request.parameters), request.volume_content_source)}

    def _source(self, request: Any) -> str:
        source = request.volume_content_source
        if not request.HasField("volume_content_source"):
            return ""
        id = str(source.snapshot.snapshot_id or source.volume.volume_id)
        if id not in self._store.snapshots and id not in self._store.volumes:
            raise Refused(grpc.StatusCode.NOT_FOUND, f"source {id} does not exist")
        return id

    def _volume(self, found: Volume, parameters: dict[str, str], source: Any) -> Any:
        volume = message("Volume")(
            volume_id=found.id, capacity_bytes=found.capacity, volume_context={**parameters, "made-by": "test-driver"}
        )
        if found.source:
            volume.content_source.CopyFrom(source)
        if self._settings.topology:
            volume.accessible_topology.add(segments=self._settings.topology)
        return volume

    def DeleteVolume(self, request: Any) -> dict[str, Any]:
        with self._store.change():
            found = self._store.volumes.get(request.volume_id)
            if found is not None and found.nodes:
                raise Refused(grpc.StatusCode.FAILED_PRECONDITION, f"volume is attached to {found.nodes}")
            self._store.delete(request.volume_id)
        return {}

    def ControllerPublishVolume(self, request: Any) -> dict[str, Any]:
        with self._store.change():
            found = self._found(request.volume_id)
            if request.node_id != self._settings.node:
                raise Refused(grpc.StatusCode.NOT_FOUND, f"node {request.node_id} does not exist")
            if request.node_id not in found.nodes:
                found.nodes.append(request.node_id)
        return {"publish_context": {"attached-to": request.node_id}}

    def ControllerUnpublishVolume(self, request: Any) -> dict[str, Any]:
        with self._store.change():
            found = self._store.volumes.get(request.volume_id)
            if found is not None:
                found.nodes = [each for each in found.nodes if request.node_id and each != request.node_id]
        return {}

    def ValidateVolumeCapabilities(self, request: Any) -> dict[str, Any]:
        self._found(request.volume_id)
        confirmed = message("ValidateVolumeCapabilitiesResponse.Confirmed")
        return {"confirmed": confirmed(volume_capabilities=request.volume_capabilities)}

    def ListVolumes(self, request: Any) -> dict[str, Any]:
        start = int(request.starting_token or 0)
        volumes = sorted(self._store.volumes.values(), key=lambda each: each.id)[start:]
        page = volumes[: request.max_entries or None]
        entry, status = message("ListVolumesResponse.Entry"), message("ListVolumesResponse.VolumeStatus")
        entries = [
            entry(
                volume=message("Volume")(volume_id=each.id, capacity_bytes=each.capacity),
                status=status(published_node_ids=each.nodes),
            )
            for each in page
        ]
        return {"entries": entries, "next_token": str(start + len(page)) if len(page) < len(volumes) else ""}

    def GetCapacity(self, request: Any) -> dict[str, Any]:
        """Return the free storage of a segment; see `Driver.set_capacity`."""
        path = self._settings.data / "capacity.json"
        total, largest = json.loads(path.read_text()) if path.exists() else (100 * GIB, None)
        used = sum(each.capacity for each in self._store.volumes.values())
        found = {"available_capacity": max(0, total - used)}
        return found if largest is None else {**found, "maximum_volume_size": {"value": largest}}

    def ControllerExpandVolume(self, request: Any) -> dict[str, Any]:
        with self._store.change():
            found = self._found(request.volume_id)
            found.capacity = max(found.capacity, request.capacity_range.required_bytes)
        return {"capacity_bytes": found.capacity, "node_expansion_required": "EXPAND_VOLUME" in self._settings.node_can}

    def ControllerModifyVolume(self, request: Any) -> dict[str, Any]:
        self._found(request.volume_id)
        return {}

    def CreateSnapshot(self, request: Any) -> dict[str, Any]:
        with self._store.change():
            found = next((each for each in self._store.snapshots.values() if each.name == request.name), None)
            if found is None:
                volume = self._found(request.source_volume_id)
                found = Snapshot(_id("snap", request.name), request.name, volume.id, volume.capacity, time.time())
                self._store.create_snapshot(found)
            elif found.volume != request.source_volume_id:
                raise Refused(grpc.StatusCode.ALREADY_EXISTS, f"snapshot {request.name} is of {found.volume}")
        snapshot = message("Snapshot")(
            snapshot_id=found.id, source_volume_id=found.volume, size_bytes=found.size, ready_to_use=True
        )
        snapshot.creation_time.FromNanoseconds(int(found.created * 1e9))
        return {"snapshot": snapshot}

    def DeleteSnapshot(self, request: Any) -> dict[str, Any]:
        with self._store.change():
            self._store.delete_snapshot(request.snapshot_id)
        return {}

    def _found(self, id: str) -> Volume:
        found = self._store.volumes.get(id)
        if found is None:
            raise Refused(grpc.StatusCode.NOT_FOUND, f"volume {id} does not exist")
        return found


def _id(kind: str, name: str) -> str:
    return f"{kind}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
