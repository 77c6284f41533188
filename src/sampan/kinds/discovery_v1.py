"""Types of discovery/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import core_v1, meta_v1


class Endpoint(TypedDict, total=False):
    """Type of `EndpointSlice.endpoints`."""

    addresses: Required[list[str]]
    conditions: EndpointConditions
    deprecatedTopology: dict[str, str]
    hints: EndpointHints
    hostname: str
    nodeName: str
    targetRef: core_v1.ObjectReference
    zone: str


class EndpointConditions(TypedDict, total=False):
    """Type of `Endpoint.conditions`."""

    ready: bool
    serving: bool
    terminating: bool


class EndpointHints(TypedDict, total=False):
    """Type of `Endpoint.hints`."""

    forNodes: list[ForNode]
    forZones: list[ForZone]


class EndpointPort(TypedDict, total=False):
    """Type of `EndpointSlice.ports`."""

    appProtocol: str
    name: str
    port: int
    protocol: str


class EndpointSlice(TypedDict, total=False):
    """Object of the resource `endpointslices` in a namespace."""

    addressType: Required[str]
    apiVersion: Required[Literal["discovery.k8s.io/v1"]]
    endpoints: list[Endpoint]
    kind: Required[Literal["EndpointSlice"]]
    metadata: Required[meta_v1.ObjectMeta]
    ports: list[EndpointPort]


class EndpointSliceList(TypedDict, total=False):
    """Response with a list of `EndpointSlice`."""

    apiVersion: Required[Literal["discovery.k8s.io/v1"]]
    items: Required[list[EndpointSlice]]
    kind: Required[Literal["EndpointSliceList"]]
    metadata: Required[meta_v1.ListMeta]


class ForNode(TypedDict, total=False):
    """Type of `EndpointHints.forNodes`."""

    name: Required[str]


class ForZone(TypedDict, total=False):
    """Type of `EndpointHints.forZones`."""

    name: Required[str]


GROUP_VERSION: Final = GroupVersion("discovery.k8s.io", "v1")

RESOURCES: Final = {
    "EndpointSlice": ("endpointslices", True),
}
"""Resources by their kinds, and True if they are in namespaces."""
