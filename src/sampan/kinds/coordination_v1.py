"""Types of coordination/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class Lease(TypedDict, total=False):
    """Object of the resource `leases` in a namespace."""

    apiVersion: Required[Literal["coordination.k8s.io/v1"]]
    kind: Required[Literal["Lease"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: LeaseSpec


class LeaseList(TypedDict, total=False):
    """Response with a list of `Lease`."""

    apiVersion: Required[Literal["coordination.k8s.io/v1"]]
    items: Required[list[Lease]]
    kind: Required[Literal["LeaseList"]]
    metadata: Required[meta_v1.ListMeta]


class LeaseSpec(TypedDict, total=False):
    """Type of `Lease.spec`."""

    acquireTime: meta_v1.MicroTime
    holderIdentity: str
    leaseDurationSeconds: int
    leaseTransitions: int
    preferredHolder: str
    renewTime: meta_v1.MicroTime
    strategy: str


GROUP_VERSION: Final = GroupVersion("coordination.k8s.io", "v1")

RESOURCES: Final = {
    "Lease": ("leases", True),
}
"""Resources by their kinds, and True if they are in namespaces."""
