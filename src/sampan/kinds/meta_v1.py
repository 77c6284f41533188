"""Types of meta/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Any, Literal, Required, TypeAlias, TypedDict


class APIGroup(TypedDict, total=False):
    """Type of `APIGroupList.groups`."""

    apiVersion: Literal["v1"]
    kind: Literal["APIGroup"]
    name: Required[str]
    preferredVersion: Required[GroupVersionForDiscovery]
    serverAddressByClientCIDRs: list[ServerAddressByClientCIDR]
    versions: Required[list[GroupVersionForDiscovery]]


class APIGroupList(TypedDict, total=False):
    """Body of requests or responses."""

    apiVersion: Required[Literal["v1"]]
    groups: Required[list[APIGroup]]
    kind: Required[Literal["APIGroupList"]]


class APIResource(TypedDict, total=False):
    """Type of `APIResourceList.resources`."""

    categories: list[str]
    group: str
    kind: Required[str]
    name: Required[str]
    namespaced: Required[bool]
    shortNames: list[str]
    singularName: Required[str]
    storageVersionHash: str
    verbs: Required[list[str]]
    version: str


class APIResourceList(TypedDict, total=False):
    """Body of requests or responses."""

    apiVersion: Required[Literal["v1"]]
    groupVersion: Required[str]
    kind: Required[Literal["APIResourceList"]]
    resources: Required[list[APIResource]]


class APIVersions(TypedDict, total=False):
    """Body of requests or responses."""

    apiVersion: Required[Literal["v1"]]
    kind: Required[Literal["APIVersions"]]
    serverAddressByClientCIDRs: Required[list[ServerAddressByClientCIDR]]
    versions: Required[list[str]]


class Condition(TypedDict, total=False):
    """Type of `ValidatingAdmissionPolicyStatus.conditions`, `ServiceStatus.conditions` and more fields."""

    lastTransitionTime: Required[Time]
    message: Required[str]
    observedGeneration: int
    reason: Required[str]
    status: Required[str]
    type: Required[str]


class DeleteOptions(TypedDict, total=False):
    """Type of `Eviction.deleteOptions`."""

    apiVersion: str
    dryRun: list[str]
    gracePeriodSeconds: int
    ignoreStoreReadErrorWithClusterBreakingPotential: bool
    kind: str
    orphanDependents: bool
    preconditions: Preconditions
    propagationPolicy: str


class FieldSelectorRequirement(TypedDict, total=False):
    """Type of `FieldSelectorAttributes.requirements`."""

    key: Required[str]
    operator: Required[str]
    values: list[str]


FieldsV1: TypeAlias = dict[str, Any]
"""Paths of fields that a manager owns."""


class GroupResource(TypedDict, total=False):
    """Body of requests or responses."""

    group: Required[str]
    resource: Required[str]


class GroupVersionForDiscovery(TypedDict, total=False):
    """Type of `APIGroup.preferredVersion`, `APIGroup.versions`."""

    groupVersion: Required[str]
    version: Required[str]


class Info(TypedDict, total=False):
    """Body of requests or responses."""

    buildDate: Required[str]
    compiler: Required[str]
    emulationMajor: str
    emulationMinor: str
    gitCommit: Required[str]
    gitTreeState: Required[str]
    gitVersion: Required[str]
    goVersion: Required[str]
    major: Required[str]
    minCompatibilityMajor: str
    minCompatibilityMinor: str
    minor: Required[str]
    platform: Required[str]


IntOrString: TypeAlias = int | str
"""Number or name of a port, count or percentage."""


class LabelSelector(TypedDict, total=False):
    """Type of `MatchResources.namespaceSelector`, `MatchResources.objectSelector` and more fields."""

    matchExpressions: list[LabelSelectorRequirement]
    matchLabels: dict[str, str]


class LabelSelectorRequirement(TypedDict, total=False):
    """Type of `LabelSelectorAttributes.requirements`, `LabelSelector.matchExpressions`."""

    key: Required[str]
    operator: Required[str]
    values: list[str]


ListMeta = TypedDict(
    "ListMeta",
    {
        "continue": "str",
        "remainingItemCount": "int",
        "resourceVersion": "str",
        "selfLink": "str",
        "shardInfo": "ShardInfo",
    },
    total=False,
)
"""Type of `MutatingAdmissionPolicyBindingList.metadata`, `MutatingAdmissionPolicyList.metadata` and more fields."""


class ManagedFieldsEntry(TypedDict, total=False):
    """Type of `ObjectMeta.managedFields`."""

    apiVersion: str
    fieldsType: str
    fieldsV1: FieldsV1
    manager: str
    operation: str
    subresource: str
    time: Time


MicroTime: TypeAlias = str
"""Time in RFC 3339 with microseconds: `2026-01-31T12:00:00.000000Z`."""


class ObjectMeta(TypedDict, total=False):
    """Type of `MutatingAdmissionPolicy.metadata`, `MutatingAdmissionPolicyBinding.metadata` and more fields."""

    annotations: dict[str, str]
    creationTimestamp: Time
    deletionGracePeriodSeconds: int
    deletionTimestamp: Time
    finalizers: list[str]
    generateName: str
    generation: int
    labels: dict[str, str]
    managedFields: list[ManagedFieldsEntry]
    name: str
    namespace: str
    ownerReferences: list[OwnerReference]
    resourceVersion: str
    selfLink: str
    uid: str


class OwnerReference(TypedDict, total=False):
    """Type of `ObjectMeta.ownerReferences`."""

    apiVersion: Required[str]
    blockOwnerDeletion: bool
    controller: bool
    kind: Required[str]
    name: Required[str]
    uid: Required[str]


Patch: TypeAlias = dict[str, Any]
"""Body of a patch."""


class Preconditions(TypedDict, total=False):
    """Type of `DeleteOptions.preconditions`."""

    resourceVersion: str
    uid: str


Quantity: TypeAlias = str
"""Amount with a suffix: `100m`, `1.5Gi`, `2e3`."""

RawExtension: TypeAlias = dict[str, Any]
"""Object of any kind."""


class ServerAddressByClientCIDR(TypedDict, total=False):
    """Type of `APIGroup.serverAddressByClientCIDRs`, `APIVersions.serverAddressByClientCIDRs`."""

    clientCIDR: Required[str]
    serverAddress: Required[str]


class ShardInfo(TypedDict, total=False):
    """Type of `ListMeta.shardInfo`."""

    selector: Required[str]


class Status(TypedDict, total=False):
    """Body of requests or responses."""

    apiVersion: Required[Literal["v1"]]
    code: int
    details: StatusDetails
    kind: Required[Literal["Status"]]
    message: str
    metadata: Required[ListMeta]
    reason: str
    status: str


class StatusCause(TypedDict, total=False):
    """Type of `StatusDetails.causes`."""

    field: str
    message: str
    reason: str


class StatusDetails(TypedDict, total=False):
    """Type of `Status.details`."""

    causes: list[StatusCause]
    group: str
    kind: str
    name: str
    retryAfterSeconds: int
    uid: str


Time: TypeAlias = str
"""Time in RFC 3339: `2026-01-31T12:00:00Z`."""


class WatchEvent(TypedDict, total=False):
    """Body of requests or responses."""

    object: Required[RawExtension]
    type: Required[str]
