"""Types of resource/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import core_v1, meta_v1


class AllocatedDeviceStatus(TypedDict, total=False):
    """Type of `ResourceClaimStatus.devices`."""

    conditions: list[meta_v1.Condition]
    data: meta_v1.RawExtension
    device: Required[str]
    driver: Required[str]
    networkData: NetworkDeviceData
    pool: Required[str]
    shareID: str


class AllocationResult(TypedDict, total=False):
    """Type of `ResourceClaimStatus.allocation`."""

    allocationTimestamp: meta_v1.Time
    devices: DeviceAllocationResult
    nodeSelector: core_v1.NodeSelector


class CELDeviceSelector(TypedDict, total=False):
    """Type of `DeviceSelector.cel`."""

    expression: Required[str]


class CapacityRequestPolicy(TypedDict, total=False):
    """Type of `DeviceCapacity.requestPolicy`."""

    default: meta_v1.Quantity
    validRange: CapacityRequestPolicyRange
    validValues: list[meta_v1.Quantity]


class CapacityRequestPolicyRange(TypedDict, total=False):
    """Type of `CapacityRequestPolicy.validRange`."""

    max: meta_v1.Quantity
    min: Required[meta_v1.Quantity]
    step: meta_v1.Quantity


class CapacityRequirements(TypedDict, total=False):
    """Type of `DeviceSubRequest.capacity`, `ExactDeviceRequest.capacity`."""

    requests: dict[str, meta_v1.Quantity]


class Counter(TypedDict, total=False):
    """Type of `CounterSet.counters`, `DeviceCounterConsumption.counters`."""

    value: Required[meta_v1.Quantity]


class CounterSet(TypedDict, total=False):
    """Type of `ResourceSliceSpec.sharedCounters`."""

    counters: Required[dict[str, Counter]]
    name: Required[str]


class Device(TypedDict, total=False):
    """Type of `ResourceSliceSpec.devices`."""

    allNodes: bool
    allowMultipleAllocations: bool
    attributes: dict[str, DeviceAttribute]
    bindingConditions: list[str]
    bindingFailureConditions: list[str]
    bindsToNode: bool
    capacity: dict[str, DeviceCapacity]
    consumesCounters: list[DeviceCounterConsumption]
    name: Required[str]
    nodeAllocatableResourceMappings: dict[str, NodeAllocatableResourceMapping]
    nodeName: str
    nodeSelector: core_v1.NodeSelector
    taints: list[DeviceTaint]


class DeviceAllocationConfiguration(TypedDict, total=False):
    """Type of `DeviceAllocationResult.config`."""

    opaque: OpaqueDeviceConfiguration
    requests: list[str]
    source: Required[str]


class DeviceAllocationResult(TypedDict, total=False):
    """Type of `AllocationResult.devices`."""

    config: list[DeviceAllocationConfiguration]
    results: list[DeviceRequestAllocationResult]


class DeviceAttribute(TypedDict, total=False):
    """Type of `Device.attributes`."""

    bool: bool
    bools: list[bool]
    int: int
    ints: list[int]
    string: str
    strings: list[str]
    version: str
    versions: list[str]


class DeviceCapacity(TypedDict, total=False):
    """Type of `Device.capacity`."""

    requestPolicy: CapacityRequestPolicy
    value: Required[meta_v1.Quantity]


class DeviceClaim(TypedDict, total=False):
    """Type of `ResourceClaimSpec.devices`."""

    config: list[DeviceClaimConfiguration]
    constraints: list[DeviceConstraint]
    requests: list[DeviceRequest]


class DeviceClaimConfiguration(TypedDict, total=False):
    """Type of `DeviceClaim.config`."""

    opaque: OpaqueDeviceConfiguration
    requests: list[str]


class DeviceClass(TypedDict, total=False):
    """Object of the resource `deviceclasses`."""

    apiVersion: Required[Literal["resource.k8s.io/v1"]]
    kind: Required[Literal["DeviceClass"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[DeviceClassSpec]


class DeviceClassConfiguration(TypedDict, total=False):
    """Type of `DeviceClassSpec.config`."""

    opaque: OpaqueDeviceConfiguration


class DeviceClassList(TypedDict, total=False):
    """Response with a list of `DeviceClass`."""

    apiVersion: Required[Literal["resource.k8s.io/v1"]]
    items: Required[list[DeviceClass]]
    kind: Required[Literal["DeviceClassList"]]
    metadata: Required[meta_v1.ListMeta]


class DeviceClassSpec(TypedDict, total=False):
    """Type of `DeviceClass.spec`."""

    config: list[DeviceClassConfiguration]
    extendedResourceName: str
    selectors: list[DeviceSelector]


class DeviceConstraint(TypedDict, total=False):
    """Type of `DeviceClaim.constraints`."""

    distinctAttribute: str
    matchAttribute: str
    requests: list[str]


class DeviceCounterConsumption(TypedDict, total=False):
    """Type of `Device.consumesCounters`."""

    counterSet: Required[str]
    counters: Required[dict[str, Counter]]


class DeviceRequest(TypedDict, total=False):
    """Type of `DeviceClaim.requests`."""

    exactly: ExactDeviceRequest
    firstAvailable: list[DeviceSubRequest]
    name: Required[str]


class DeviceRequestAllocationResult(TypedDict, total=False):
    """Type of `DeviceAllocationResult.results`."""

    adminAccess: bool
    bindingConditions: list[str]
    bindingFailureConditions: list[str]
    consumedCapacity: dict[str, meta_v1.Quantity]
    device: Required[str]
    driver: Required[str]
    pool: Required[str]
    request: Required[str]
    shareID: str
    tolerations: list[DeviceToleration]


class DeviceSelector(TypedDict, total=False):
    """Type of `DeviceClassSpec.selectors`, `DeviceSubRequest.selectors` and more fields."""

    cel: CELDeviceSelector


class DeviceSubRequest(TypedDict, total=False):
    """Type of `DeviceRequest.firstAvailable`."""

    allocationMode: str
    capacity: CapacityRequirements
    count: int
    deviceClassName: Required[str]
    name: Required[str]
    selectors: list[DeviceSelector]
    tolerations: list[DeviceToleration]


class DeviceTaint(TypedDict, total=False):
    """Type of `Device.taints`."""

    effect: Required[str]
    key: Required[str]
    timeAdded: meta_v1.Time
    value: str


class DeviceToleration(TypedDict, total=False):
    """Type of `DeviceRequestAllocationResult.tolerations`, `DeviceSubRequest.tolerations` and more fields."""

    effect: str
    key: str
    operator: str
    tolerationSeconds: int
    value: str


class ExactDeviceRequest(TypedDict, total=False):
    """Type of `DeviceRequest.exactly`."""

    adminAccess: bool
    allocationMode: str
    capacity: CapacityRequirements
    count: int
    deviceClassName: Required[str]
    selectors: list[DeviceSelector]
    tolerations: list[DeviceToleration]


class NetworkDeviceData(TypedDict, total=False):
    """Type of `AllocatedDeviceStatus.networkData`."""

    hardwareAddress: str
    interfaceName: str
    ips: list[str]


class NodeAllocatableResourceMapping(TypedDict, total=False):
    """Type of `Device.nodeAllocatableResourceMappings`."""

    allocationMultiplier: meta_v1.Quantity
    capacityKey: str


class OpaqueDeviceConfiguration(TypedDict, total=False):
    """Type of `DeviceAllocationConfiguration.opaque`, `DeviceClaimConfiguration.opaque` and more fields."""

    driver: Required[str]
    parameters: Required[meta_v1.RawExtension]


class ResourceClaim(TypedDict, total=False):
    """Object of the resource `resourceclaims` in a namespace."""

    apiVersion: Required[Literal["resource.k8s.io/v1"]]
    kind: Required[Literal["ResourceClaim"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[ResourceClaimSpec]
    status: ResourceClaimStatus


class ResourceClaimConsumerReference(TypedDict, total=False):
    """Type of `ResourceClaimStatus.reservedFor`."""

    apiGroup: str
    name: Required[str]
    resource: Required[str]
    uid: Required[str]


class ResourceClaimList(TypedDict, total=False):
    """Response with a list of `ResourceClaim`."""

    apiVersion: Required[Literal["resource.k8s.io/v1"]]
    items: Required[list[ResourceClaim]]
    kind: Required[Literal["ResourceClaimList"]]
    metadata: Required[meta_v1.ListMeta]


class ResourceClaimSpec(TypedDict, total=False):
    """Type of `ResourceClaim.spec`, `ResourceClaimTemplateSpec.spec`."""

    devices: DeviceClaim


class ResourceClaimStatus(TypedDict, total=False):
    """Type of `ResourceClaim.status`."""

    allocation: AllocationResult
    devices: list[AllocatedDeviceStatus]
    reservedFor: list[ResourceClaimConsumerReference]


class ResourceClaimTemplate(TypedDict, total=False):
    """Object of the resource `resourceclaimtemplates` in a namespace."""

    apiVersion: Required[Literal["resource.k8s.io/v1"]]
    kind: Required[Literal["ResourceClaimTemplate"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[ResourceClaimTemplateSpec]


class ResourceClaimTemplateList(TypedDict, total=False):
    """Response with a list of `ResourceClaimTemplate`."""

    apiVersion: Required[Literal["resource.k8s.io/v1"]]
    items: Required[list[ResourceClaimTemplate]]
    kind: Required[Literal["ResourceClaimTemplateList"]]
    metadata: Required[meta_v1.ListMeta]


class ResourceClaimTemplateSpec(TypedDict, total=False):
    """Type of `ResourceClaimTemplate.spec`."""

    metadata: meta_v1.ObjectMeta
    spec: Required[ResourceClaimSpec]


class ResourcePool(TypedDict, total=False):
    """Type of `ResourceSliceSpec.pool`."""

    generation: Required[int]
    name: Required[str]
    resourceSliceCount: Required[int]


class ResourceSlice(TypedDict, total=False):
    """Object of the resource `resourceslices`."""

    apiVersion: Required[Literal["resource.k8s.io/v1"]]
    kind: Required[Literal["ResourceSlice"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[ResourceSliceSpec]


class ResourceSliceList(TypedDict, total=False):
    """Response with a list of `ResourceSlice`."""

    apiVersion: Required[Literal["resource.k8s.io/v1"]]
    items: Required[list[ResourceSlice]]
    kind: Required[Literal["ResourceSliceList"]]
    metadata: Required[meta_v1.ListMeta]


class ResourceSliceSpec(TypedDict, total=False):
    """Type of `ResourceSlice.spec`."""

    allNodes: bool
    devices: list[Device]
    driver: Required[str]
    nodeName: str
    nodeSelector: core_v1.NodeSelector
    perDeviceNodeSelection: bool
    pool: Required[ResourcePool]
    sharedCounters: list[CounterSet]


GROUP_VERSION: Final = GroupVersion("resource.k8s.io", "v1")

RESOURCES: Final = {
    "DeviceClass": ("deviceclasses", False),
    "ResourceClaim": ("resourceclaims", True),
    "ResourceClaimTemplate": ("resourceclaimtemplates", True),
    "ResourceSlice": ("resourceslices", False),
}
"""Resources by their kinds, and True if they are in namespaces."""
