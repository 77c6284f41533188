"""`CapacityPublisher`: publishes free storage as CSIStorageCapacity objects: one for each class and segment.

An object is refreshed periodically, and after a volume was created or deleted in its segment.

Source: external-provisioner pkg/capacity/{capacity,provision}.go.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sampan.client import AlreadyExists, DeleteOptions, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CSI_NODES, CSI_STORAGE_CAPACITIES, NODES, STORAGE_CLASSES
from sampan.csi.errors import CsiError
from sampan.csi.messages import AnyMessage
from sampan.csi.sidecar.claims import amount, bytes_quantity
from sampan.csi.sidecar.driver import Driver
from sampan.csi.sidecar.provisioning.segments import CapacityItem, segments, segments_of_volume
from sampan.csi.sidecar.settings import SidecarSettings
from sampan.informer.ref import Ref
from sampan.kinds import core_v1, meta_v1, storage_v1
from sampan.operator.request import Request, RetryLater
from sampan.operator.source import ChannelSource
from sampan.resource import meta

DRIVER_LABEL: Final = "csi.storage.k8s.io/drivername"
MANAGER_LABEL: Final = "csi.storage.k8s.io/managed-by"
MANAGER: Final = "external-provisioner"
ALL: Final = Request("", "topology")
"""Request to find out which objects are needed."""


class CapacityPublisher:
    """Reconciler of the CSIStorageCapacity objects of a driver, and of the request `ALL`."""

    def __init__(self, context: ControllerContext, driver: Driver, settings: SidecarSettings) -> None:
        client = context.manager.client
        self._namespace = settings.capacity_namespace
        self._objects = client.resource(CSI_STORAGE_CAPACITIES, namespace=self._namespace)
        self._classes = client.resource(STORAGE_CLASSES)
        self._csi_nodes = client.resource(CSI_NODES)
        self._nodes = context.informer(NODES).indexer
        self._driver = driver
        self._immediate = settings.capacity_for_immediate_binding
        self._labels = {DRIVER_LABEL: driver.name, MANAGER_LABEL: MANAGER}
        self._items: Mapping[str, CapacityItem] = {}
        """Needed objects by their names."""
        self._announced: Mapping[str, CapacityItem] = {}
        """Needed objects when the request `ALL` was last processed."""
        self._changes = 1
        self._changes_handled = 0
        """Number of changes of nodes and classes that `_items` includes."""
        self.refreshes: ChannelSource[Request] = ChannelSource(lambda request: (request,))
        """Requests for objects whose capacity may have changed."""

    # Events

    def is_ours(self, ref: Ref[Any]) -> bool:
        """Return True if an object belongs to this driver."""
        return ref.namespace == self._namespace and self._labels.items() <= ref.labels.items()

    def topology_changed(self, ref: Ref[Any]) -> Iterable[Request]:
        """Return the request after a change of a node or a class."""
        self._changes += 1
        return (ALL,)

    def requests(self) -> Iterable[Request]:
        """Return the requests for all needed objects."""
        return [self._request(name) for name in self._items]

    def volume_changed(self, class_name: str, volume: core_v1.PersistentVolume | None) -> None:
        """Refresh objects after a volume was created or deleted: those of its segments, or if they are unknown, of its
        class.
        """
        there = segments_of_volume(volume) if volume is not None else set()
        for name, item in self._items.items():
            if item.segment in there if there else item.class_name == class_name:
                # The next periodic refresh includes what the full channel drops.
                with contextlib.suppress(asyncio.QueueFull):
                    self.refreshes.put_nowait(self._request(name))

    def _request(self, name: str) -> Request:
        return Request(self._namespace, name)

    # Work

    async def reconcile(self, request: Request) -> None:
        """Reconcile one object, or find the needed ones. Raises `ApiError`, `TransportError`, `RetryLater`."""
        if self._changes_handled != self._changes:
            await self._look()
        if request == ALL:
            before, self._announced = self._announced, self._items
            for name in sorted(before.keys() ^ self._items.keys()):
                await self.refreshes.put(self._request(name))
            return
        found = await self._objects.find(request)
        item = self._items.get(request.name)
        if item is None:
            await self._remove(found)
        else:
            await self._publish(request.name, item, found)

    async def _look(self) -> None:
        """Find the needed objects."""
        changes = self._changes
        labels = {ref.name: ref.labels for ref in self._nodes.refs()}
        there = segments(self._driver.name, await self._csi_nodes.list(), labels)
        classes = [meta(each).name for each in await self._classes.list() if self._counts(each)]
        items = [CapacityItem(name, segment) for name in classes for segment in there]
        self._items = {item.object_name(self._driver.name): item for item in items}
        self._changes_handled = changes

    def _counts(self, storage_class: storage_v1.StorageClass) -> bool:
        late = storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
        return storage_class.get("provisioner") == self._driver.name and (late or self._immediate)

    async def _remove(self, found: storage_v1.CSIStorageCapacity | None) -> None:
        if found is not None and self._labels.items() <= meta(found).labels.items():
            with contextlib.suppress(NotFound):
                await self._objects.delete(meta(found).name, DeleteOptions(uid=meta(found).uid))

    async def _publish(self, name: str, item: CapacityItem, found: storage_v1.CSIStorageCapacity | None) -> None:
        storage_class = await self._classes.find(Request("", item.class_name))
        if storage_class is None:
            return
        try:
            response = await self._driver.call(
                "GetCapacity",
                parameters=storage_class.get("parameters") or {},
                accessible_topology={"segments": dict(item.segment)},
            )
        except CsiError as error:
            raise RetryLater(f"cannot get the capacity of class {item.class_name}: {error}") from error
        figures = _figures(response)
        if found is None:
            await self._create(name, item, figures)
        elif not self._is_current(found, figures):
            change = {"metadata": {"labels": self._labels}, "maximumVolumeSize": None, **figures}
            with contextlib.suppress(NotFound):
                await self._objects.patch(name, MergePatch(change))

    async def _create(self, name: str, item: CapacityItem, figures: Mapping[str, str]) -> None:
        segment: meta_v1.LabelSelector = {"matchLabels": dict(item.segment)} if item.segment else {}
        described: storage_v1.CSIStorageCapacity = {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIStorageCapacity",
            "metadata": {"name": name, "labels": self._labels},
            "storageClassName": item.class_name,
            "nodeTopology": segment,
            "capacity": figures["capacity"],
        }
        if "maximumVolumeSize" in figures:
            described["maximumVolumeSize"] = figures["maximumVolumeSize"]
        try:
            await self._objects.create(described)
        except AlreadyExists as error:
            raise RetryLater(str(error)) from error

    def _is_current(self, found: storage_v1.CSIStorageCapacity, figures: Mapping[str, str]) -> bool:
        present = {name: bytes_quantity(_bytes(found[name])) for name in _FIGURES if found.get(name) is not None}
        return present == figures and self._labels.items() <= meta(found).labels.items()


_FIGURES: Final = ("capacity", "maximumVolumeSize")


def _figures(response: AnyMessage) -> dict[str, str]:
    found = {"capacity": bytes_quantity(response.available_capacity)}
    if response.HasField("maximum_volume_size"):
        found["maximumVolumeSize"] = bytes_quantity(response.maximum_volume_size.value)
    return found


def _bytes(quantity: Any) -> int:
    return int(amount({"storage": quantity}).value())
