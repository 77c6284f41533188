"""Types of apiregistration/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class APIService(TypedDict, total=False):
    """Object of the resource `apiservices`."""

    apiVersion: Required[Literal["apiregistration.k8s.io/v1"]]
    kind: Required[Literal["APIService"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[APIServiceSpec]
    status: APIServiceStatus


class APIServiceCondition(TypedDict, total=False):
    """Type of `APIServiceStatus.conditions`."""

    lastTransitionTime: meta_v1.Time
    message: str
    reason: str
    status: Required[str]
    type: Required[str]


class APIServiceList(TypedDict, total=False):
    """Response with a list of `APIService`."""

    apiVersion: Required[Literal["apiregistration.k8s.io/v1"]]
    items: Required[list[APIService]]
    kind: Required[Literal["APIServiceList"]]
    metadata: Required[meta_v1.ListMeta]


class APIServiceSpec(TypedDict, total=False):
    """Type of `APIService.spec`."""

    caBundle: str
    group: str
    groupPriorityMinimum: Required[int]
    insecureSkipTLSVerify: bool
    service: ServiceReference
    version: str
    versionPriority: Required[int]


class APIServiceStatus(TypedDict, total=False):
    """Type of `APIService.status`."""

    conditions: list[APIServiceCondition]


class ServiceReference(TypedDict, total=False):
    """Type of `APIServiceSpec.service`."""

    name: str
    namespace: str
    port: int


GROUP_VERSION: Final = GroupVersion("apiregistration.k8s.io", "v1")

RESOURCES: Final = {
    "APIService": ("apiservices", False),
}
"""Resources by their kinds, and True if they are in namespaces."""
