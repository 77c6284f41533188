"""Reading and writing of a controller's EndpointSlices.

Source: staging k8s.io/endpointslice reconciler.go `finalize` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sampan.client import ApiError, DeleteOptions, ListOptions, NotFound, ResourceClient, merge_patch_between
from sampan.controllers.endpoint_slices.packing import SliceChanges
from sampan.controllers.workloads.pod_control import NAMESPACE_TERMINATING
from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.informer.ref import Ref
from sampan.kinds import discovery_v1, meta_v1
from sampan.operator.owners.references import set_controller_reference
from sampan.operator.request import Request
from sampan.resource import meta

SERVICE_NAME_LABEL: Final = "kubernetes.io/service-name"
MANAGED_BY_LABEL: Final = "endpointslice.kubernetes.io/managed-by"


def requests_of_slices(manager: str) -> Any:
    """Return a function that maps a slice with this manager to the name of its Service or Endpoints."""

    def requests(ref: Ref[Any]) -> Iterable[Request]:
        name = ref.labels.get(SERVICE_NAME_LABEL)
        return (Request(ref.namespace, name),) if name and ref.labels.get(MANAGED_BY_LABEL) == manager else ()

    return requests


async def slices_of(
    client: ResourceClient[discovery_v1.EndpointSlice], name: str, manager: str
) -> list[discovery_v1.EndpointSlice]:
    """Return the slices of a Service with this manager, except those being deleted."""
    selector = f"{SERVICE_NAME_LABEL}={name},{MANAGED_BY_LABEL}={manager}"
    found = await client.list(ListOptions(label_selector=selector))
    return [slice for slice in found if meta(slice).deletion_timestamp is None]


def new_slice(
    owner: Mapping[str, Any], address_type: str, ports: list[discovery_v1.EndpointPort], labels: dict[str, str]
) -> discovery_v1.EndpointSlice:
    """Return an empty slice controlled by `owner`."""
    prefix = f"{meta(owner).name}-"
    name = meta(owner).name if dns1123_subdomain_errors(prefix, prefix=True) else prefix
    metadata: meta_v1.ObjectMeta = {"generateName": name, "namespace": meta(owner).namespace, "labels": labels}
    slice: discovery_v1.EndpointSlice = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": metadata,
        "addressType": address_type,
        "endpoints": [],
        "ports": ports,
    }
    set_controller_reference(owner, slice)
    return slice


async def write(
    client: ResourceClient[discovery_v1.EndpointSlice],
    changes: SliceChanges,
    owner: Mapping[str, Any],
    annotations: dict[str, str | None],
) -> None:
    """Apply the changes. Written slices get the annotations; the value None removes one.

    For an owner that is being deleted, no slice is created: the garbage collector deletes its slices. Raises `Conflict`
    if a slice has changed since it was read, `ApiError`, `TransportError`.
    """
    for slice in changes.create if meta(owner).deletion_timestamp is None else ():
        given = {name: value for name, value in annotations.items() if value is not None}
        metadata: meta_v1.ObjectMeta = {**slice["metadata"], "annotations": given} if given else slice["metadata"]
        try:
            await client.create({**slice, "metadata": metadata})
        except ApiError as error:
            if error.has_cause(NAMESPACE_TERMINATING):
                return
            raise
    for before, after in changes.update:
        merged = {**meta(after).annotations, **annotations}
        kept = {name: value for name, value in merged.items() if value is not None}
        metadata = {**after["metadata"], "annotations": kept}
        patch = merge_patch_between(before, {**after, "metadata": metadata}, optimistic_lock=True)
        await client.patch(meta(before).name, patch)
    await delete(client, changes.delete)


async def delete(
    client: ResourceClient[discovery_v1.EndpointSlice], slices: Iterable[discovery_v1.EndpointSlice]
) -> None:
    """Delete exactly these slices, by name and UID; a missing one is no error.

    A slice that was replaced by another of the same name stays. Raises `ApiError`, `TransportError`.
    """
    for slice in slices:
        try:
            await client.delete(meta(slice).name, DeleteOptions(uid=meta(slice).uid))
        except NotFound:
            continue
