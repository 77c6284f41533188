"""The mirroring controller: copies Endpoints of Services without a selector to EndpointSlices.

Source: kube-controller-manager pkg/controller/endpointslicemirroring/ (1.36).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import ENDPOINT_SLICES, ENDPOINTS, SERVICES
from sampan.controllers.endpoint_slices.endpoint import IPV4, IPV6, address_type_of
from sampan.controllers.endpoint_slices.packing import (
    PortsKey,
    SliceChanges,
    SliceUpdate,
    endpoint_key,
    endpoints_of,
    is_same,
    ports_key,
)
from sampan.controllers.endpoint_slices.trigger_time import ANNOTATION
from sampan.controllers.endpoint_slices.writing import (
    MANAGED_BY_LABEL,
    SERVICE_NAME_LABEL,
    delete,
    new_slice,
    requests_of_slices,
    slices_of,
    write,
)
from sampan.controllers.endpoints.controller import LEADER_ANNOTATION
from sampan.controllers.endpoints.subsets import in_order
from sampan.kinds import core_v1, discovery_v1
from sampan.operator.builder import Builder
from sampan.operator.handlers import for_object
from sampan.operator.request import Request, Result
from sampan.resource import meta

NAME: Final = "endpointslice-mirroring-controller"
MANAGER: Final = "endpointslicemirroring-controller.k8s.io"
SKIP_MIRROR_LABEL: Final = "endpointslice.kubernetes.io/skip-mirror"
ADDRESSES_MAX: Final = 1000
"""Highest number of addresses that are mirrored from one subset."""
WORKERS: Final = 5
_NOT_MIRRORED: Final = (ANNOTATION, "kubectl.kubernetes.io/last-applied-configuration")


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    (
        Builder(context.manager)
        .named(NAME)
        .for_(ENDPOINTS)
        .watches(SERVICES, for_object)
        .watches(ENDPOINT_SLICES, requests_of_slices(MANAGER))
        .with_options(max_concurrent_reconciles=WORKERS)
        .complete(MirroringController(context))
    )


class MirroringController:
    """Keeps one slice per address family and set of ports for each mirrored Endpoints object."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._recorder = context.recorder("endpoint-slice-mirroring-controller")
        self._endpoints = client.resource(ENDPOINTS, namespace="")
        self._services = client.resource(SERVICES, namespace="")
        self._slices = client.resource(ENDPOINT_SLICES, namespace="")

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile the Endpoints of one name. Raises `ApiError`, `TransportError`."""
        client = self._slices.in_namespace(request.namespace)
        existing = await slices_of(client, request.name, MANAGER)
        endpoints = await self._endpoints.find(request)
        service = await self._services.find(request)
        if endpoints is None or not is_mirrored(endpoints, service):
            await delete(client, existing)
            return None
        mirror = mirror_of(endpoints)
        self._record_skipped(endpoints, mirror)
        changes = changes_for(endpoints, mirror, existing)
        await write(client, changes, endpoints, {})
        return None

    def _record_skipped(self, endpoints: core_v1.Endpoints, mirror: DesiredSlices) -> None:
        if mirror.invalid:
            note = f"Skipped {mirror.invalid} invalid IP addresses when mirroring to EndpointSlices"
            self._recorder.warning(endpoints, "InvalidIPAddress", note)
        if mirror.skipped > mirror.invalid:
            note = (
                f"A max of {ADDRESSES_MAX} addresses can be mirrored to EndpointSlices per Endpoints subset. "
                f"{mirror.skipped} addresses were skipped"
            )
            self._recorder.warning(endpoints, "TooManyAddressesToMirror", note)


def is_mirrored(endpoints: core_v1.Endpoints, service: core_v1.Service | None) -> bool:
    """Return True if a user manages these Endpoints and they must be mirrored."""
    if service is None or (service.get("spec") or {}).get("selector"):
        return False
    skipped = meta(endpoints).labels.get(SKIP_MIRROR_LABEL) == "true"
    return not skipped and LEADER_ANNOTATION not in meta(endpoints).annotations


@dataclass(slots=True)
class DesiredSlices:
    """Endpoints of the desired slices, grouped by address family and ports."""

    groups: dict[tuple[str, PortsKey], tuple[list[discovery_v1.EndpointPort], list[discovery_v1.Endpoint]]] = field(
        default_factory=dict
    )
    """The ports and the endpoints of each group."""
    invalid: int = 0
    """Number of invalid addresses."""
    skipped: int = 0
    """Number of skipped addresses: invalid ones and those above the limit."""


def mirror_of(endpoints: core_v1.Endpoints) -> DesiredSlices:
    """Compute the mirror of an Endpoints object."""
    mirror = DesiredSlices()
    for subset in in_order(endpoints.get("subsets") or ()):
        ports = [_port(port) for port in (subset.get("ports") or ())]
        pairs = [(address, True) for address in (subset.get("addresses") or ())]
        pairs += [(address, False) for address in (subset.get("notReadyAddresses") or ())]
        added = 0
        for address, ready in pairs:
            family = address_type_of(address["ip"])
            if added >= ADDRESSES_MAX:
                break
            if not family:
                mirror.invalid += 1
                continue
            added += 1
            mirror.groups.setdefault((family, ports_key(ports)), (ports, []))[1].append(_endpoint(address, ready))
        mirror.skipped += len(pairs) - added
    return mirror


def changes_for(
    endpoints: core_v1.Endpoints, mirror: DesiredSlices, existing: Iterable[discovery_v1.EndpointSlice]
) -> SliceChanges:
    """Return the changes that turn the existing slices into the mirror."""
    changes = SliceChanges()
    by_key: dict[tuple[str, PortsKey], list[discovery_v1.EndpointSlice]] = {}
    for slice in existing:
        by_key.setdefault((slice["addressType"], ports_key(slice.get("ports"))), []).append(slice)
    for key, (ports, desired) in mirror.groups.items():
        mirrors = by_key.pop(key, [])
        after = _mirrored(endpoints, key[0], ports, desired[:ADDRESSES_MAX])
        if not mirrors:
            changes.create.append(after)
        elif not _is_mirror(mirrors[0], after):
            changes.update.append(SliceUpdate(mirrors[0], _in_place_of(mirrors[0], after)))
        changes.delete += mirrors[1:]
    for unwanted in by_key.values():
        changes.delete += unwanted
    for family in (IPV4, IPV6):
        _recycle(changes, family)
    return changes


def _in_place_of(slice: discovery_v1.EndpointSlice, desired: discovery_v1.EndpointSlice) -> discovery_v1.EndpointSlice:
    """Return a copy of an existing slice with the desired content. Metadata that the server sets is kept."""
    metadata = slice["metadata"].copy()
    given = desired["metadata"]
    if "labels" in given:
        metadata["labels"] = given["labels"]
    else:
        metadata.pop("labels", None)
    if "annotations" in given:
        metadata["annotations"] = given["annotations"]
    else:
        metadata.pop("annotations", None)
    if "ownerReferences" in given:
        metadata["ownerReferences"] = given["ownerReferences"]
    else:
        metadata.pop("ownerReferences", None)
    return {**slice, **desired, "metadata": metadata}


def _recycle(changes: SliceChanges, family: str) -> None:
    of_family = SliceChanges(
        create=[slice for slice in changes.create if slice["addressType"] == family],
        delete=[slice for slice in changes.delete if slice["addressType"] == family],
    )
    changes.create = [slice for slice in changes.create if slice["addressType"] != family]
    changes.delete = [slice for slice in changes.delete if slice["addressType"] != family]
    of_family.recycle()
    changes.add(of_family)


def _mirrored(
    endpoints: core_v1.Endpoints,
    family: str,
    ports: list[discovery_v1.EndpointPort],
    desired: list[discovery_v1.Endpoint],
) -> discovery_v1.EndpointSlice:
    metadata = meta(endpoints)
    labels = {**metadata.labels, SERVICE_NAME_LABEL: metadata.name, MANAGED_BY_LABEL: MANAGER}
    slice = new_slice(endpoints, family, ports, labels)
    annotations = {name: value for name, value in metadata.annotations.items() if name not in _NOT_MIRRORED}
    if annotations:
        slice["metadata"]["annotations"] = annotations
    return {**slice, "endpoints": desired}


def _is_mirror(slice: discovery_v1.EndpointSlice, desired: discovery_v1.EndpointSlice) -> bool:
    """Return True if a slice has the desired content and the same owner, by UID."""
    found = {endpoint_key(endpoint): endpoint for endpoint in endpoints_of(slice)}
    expected = {endpoint_key(endpoint): endpoint for endpoint in endpoints_of(desired)}
    return (
        found.keys() == expected.keys()
        and all(is_same(found[key], expected[key]) for key in expected)
        and meta(slice).labels == meta(desired).labels
        and meta(slice).annotations == meta(desired).annotations
        and [each.uid for each in meta(slice).owner_references] == [each.uid for each in meta(desired).owner_references]
    )


def _endpoint(address: core_v1.EndpointAddress, ready: bool) -> discovery_v1.Endpoint:
    endpoint: discovery_v1.Endpoint = {
        "addresses": [str(ipaddress.ip_address(address["ip"]))],
        "conditions": {"ready": ready},
    }
    if address.get("targetRef"):
        endpoint["targetRef"] = address["targetRef"]
    if address.get("nodeName"):
        endpoint["nodeName"] = address["nodeName"]
    if address.get("hostname"):
        endpoint["hostname"] = address["hostname"]
    return endpoint


def _port(port: core_v1.EndpointPort) -> discovery_v1.EndpointPort:
    copied: discovery_v1.EndpointPort = {
        "name": port.get("name", ""),
        "port": port["port"],
        "protocol": port.get("protocol", "TCP"),
    }
    if port.get("appProtocol"):
        copied["appProtocol"] = port["appProtocol"]
    return copied
