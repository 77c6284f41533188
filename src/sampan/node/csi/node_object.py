"""`NodeObject`: entries about drivers in CSINode and Node, and the volumes in use in the node's status.

Source: kubernetes pkg/volume/csi/nodeinfomanager/nodeinfomanager.go (1.36).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, Protocol

from sampan.client import AlreadyExists, Client, ClientError, Conflict, Invalid, MergePatch, NotFound
from sampan.component_base.resources import CSI_NODES, NODES
from sampan.kinds import meta_v1, storage_v1
from sampan.resource import meta

NODE_IDS: Final = "csi.volume.kubernetes.io/nodeid"
"""Annotation of a Node: a JSON map from the driver's name to its ID of the node."""
_ATTEMPTS: Final = 5
_RETRY_S: Final = 0.2


class DriverFacts(Protocol):
    """Facts about a driver that are written to the CSINode and the Node."""

    @property
    def name(self) -> str:
        """Name under which the driver is registered, as in CSIDriver objects."""
        ...

    @property
    def node_id(self) -> str:
        """ID by which the driver identifies this node when it attaches volumes."""
        ...

    @property
    def topology(self) -> Mapping[str, str]:
        """Segments of the node's topology."""
        ...

    @property
    def volumes_max(self) -> int:
        """Number of volumes that the driver can have on the node; 0 for no limit."""
        ...


class NodeObject:
    """Writes the drivers of one node to its Node and CSINode. Tasks that write wait for each other."""

    def __init__(self, client: Client, node: str) -> None:
        self._node = node
        self._nodes = client.resource(NODES)
        self._csi_nodes = client.resource(CSI_NODES)
        self._in_use: list[str] | None = None
        self._lock = asyncio.Lock()
        self._drivers_lock = asyncio.Lock()
        self._added: set[str] = set()
        """Drivers that were added since the start."""

    async def create_csi_node(self) -> None:
        """Create the CSINode, unless it exists. Raises `ClientError`."""
        await self._write_drivers(lambda drivers: drivers)

    async def add(self, driver: DriverFacts) -> None:
        """Write a driver in the Node and in the CSINode. Raises `ClientError`, and `ValueError` for wrong labels."""
        async with self._drivers_lock:
            self._added.add(driver.name)
            await self._retried(lambda: self._write_node(driver.name, driver))
            try:
                await self._write_drivers(lambda drivers: _with(drivers, driver))
            except Invalid:  # An entry cannot change, but it can be replaced.
                await self._write_drivers(lambda drivers: _without(drivers, driver.name))
                await self._write_drivers(lambda drivers: _with(drivers, driver))

    async def remove(self, name: str) -> None:
        """Remove a driver from the Node and the CSINode. Its labels stay. Raises `ClientError`."""
        async with self._drivers_lock:
            self._added.discard(name)
            await self._remove(name)

    async def _remove(self, name: str) -> None:
        await self._retried(lambda: self._write_node(name, None))
        await self._write_drivers(lambda drivers: _without(drivers, name))

    async def remove_unknown(self) -> None:
        """Remove all drivers that were not added by this object. Raises `ClientError`."""
        try:
            found = await self._csi_nodes.get(self._node)
        except NotFound:
            return
        for each in found["spec"].get("drivers") or ():
            async with self._drivers_lock:
                if each["name"] not in self._added:
                    await self._remove(each["name"])

    async def report_in_use(self, names: Iterable[str]) -> None:
        """Write the volumes in use, which must not be detached. Raises `ClientError`."""
        async with self._lock:
            desired = sorted(names)
            if desired != self._in_use:
                await self._nodes.status.patch(self._node, MergePatch({"status": {"volumesInUse": desired}}))
                self._in_use = desired

    async def attached(self) -> frozenset[str]:
        """Return the volumes that the attach-detach controller keeps attached. Raises `ClientError`."""
        node = await self._nodes.get(self._node)
        status = node.get("status")
        return frozenset(each["name"] for each in (status.get("volumesAttached") if status else None) or ())

    async def _write_node(self, name: str, driver: DriverFacts | None) -> None:
        node = await self._nodes.get(self._node)
        before = meta(node)
        try:
            ids = dict(json.loads(before.annotations.get(NODE_IDS, "{}")))
        except (ValueError, TypeError, RecursionError):
            ids = {}
        ids.pop(name, None)
        labels = {} if driver is None else dict(driver.topology)
        for key, value in labels.items():
            if before.labels.get(key, value) != value:
                text = f'driver reported "{key}":"{value}" but existing label is "{key}":"{before.labels[key]}"'
                raise ValueError(f"detected topology value collision: {text}")
        if driver is not None:
            ids[name] = driver.node_id
        annotation = json.dumps(ids, sort_keys=True, separators=(",", ":")) if ids else None
        if before.annotations.get(NODE_IDS) == annotation and all(before.labels.get(key) for key in labels):
            return
        change = {"resourceVersion": before.resource_version, "annotations": {NODE_IDS: annotation}, "labels": labels}
        await self._nodes.patch(self._node, MergePatch({"metadata": change}))

    async def _write_drivers(
        self, change: Callable[[list[storage_v1.CSINodeDriver]], list[storage_v1.CSINodeDriver]]
    ) -> None:
        await self._retried(lambda: self._write_drivers_once(change))

    async def _write_drivers_once(
        self, change: Callable[[list[storage_v1.CSINodeDriver]], list[storage_v1.CSINodeDriver]]
    ) -> None:
        try:
            found = await self._csi_nodes.get(self._node)
        except NotFound:
            node = meta(await self._nodes.get(self._node))
            owner: meta_v1.OwnerReference = {"apiVersion": "v1", "kind": "Node", "name": self._node, "uid": node.uid}
            metadata: meta_v1.ObjectMeta = {"name": self._node, "ownerReferences": [owner]}
            spec: storage_v1.CSINodeSpec = {"drivers": change([])}
            await self._csi_nodes.create(
                {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": metadata, "spec": spec}
            )
            return
        before = list(found["spec"].get("drivers") or ())
        after = change(before)
        if after != before:
            await self._csi_nodes.update({**found, "spec": {**found["spec"], "drivers": after}})

    async def _retried(self, act: Callable[[], Awaitable[None]]) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                await act()
                return
            except (Conflict, AlreadyExists):
                if attempt == _ATTEMPTS - 1:
                    raise
            except ClientError:
                if attempt == _ATTEMPTS - 1:
                    raise
                await asyncio.sleep(_RETRY_S * 2**attempt)


def _with(drivers: list[storage_v1.CSINodeDriver], driver: DriverFacts) -> list[storage_v1.CSINodeDriver]:
    entry: storage_v1.CSINodeDriver = {"name": driver.name, "nodeID": driver.node_id}
    if driver.topology:
        entry["topologyKeys"] = sorted(driver.topology)
    if driver.volumes_max > 0:
        entry["allocatable"] = {"count": driver.volumes_max}
    if entry in drivers:
        return drivers
    return [*_without(drivers, driver.name), entry]


def _without(drivers: list[storage_v1.CSINodeDriver], name: str) -> list[storage_v1.CSINodeDriver]:
    return [each for each in drivers if each["name"] != name]
