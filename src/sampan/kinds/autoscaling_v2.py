"""Types of autoscaling/v2. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class ContainerResourceMetricSource(TypedDict, total=False):
    """Type of `MetricSpec.containerResource`."""

    container: Required[str]
    name: Required[str]
    target: Required[MetricTarget]


class ContainerResourceMetricStatus(TypedDict, total=False):
    """Type of `MetricStatus.containerResource`."""

    container: Required[str]
    current: Required[MetricValueStatus]
    name: Required[str]


class CrossVersionObjectReference(TypedDict, total=False):
    """Type of `HorizontalPodAutoscalerSpec.scaleTargetRef`, `ObjectMetricSource.describedObject` and more fields."""

    apiVersion: str
    kind: Required[str]
    name: Required[str]


class ExternalMetricSource(TypedDict, total=False):
    """Type of `MetricSpec.external`."""

    metric: Required[MetricIdentifier]
    target: Required[MetricTarget]


class ExternalMetricStatus(TypedDict, total=False):
    """Type of `MetricStatus.external`."""

    current: Required[MetricValueStatus]
    metric: Required[MetricIdentifier]


class HPAScalingPolicy(TypedDict, total=False):
    """Type of `HPAScalingRules.policies`."""

    periodSeconds: Required[int]
    type: Required[str]
    value: Required[int]


class HPAScalingRules(TypedDict, total=False):
    """Type of `HorizontalPodAutoscalerBehavior.scaleDown`, `HorizontalPodAutoscalerBehavior.scaleUp`."""

    policies: list[HPAScalingPolicy]
    selectPolicy: str
    stabilizationWindowSeconds: int
    tolerance: meta_v1.Quantity


class HorizontalPodAutoscaler(TypedDict, total=False):
    """Object of the resource `horizontalpodautoscalers` in a namespace."""

    apiVersion: Required[Literal["autoscaling/v2"]]
    kind: Required[Literal["HorizontalPodAutoscaler"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[HorizontalPodAutoscalerSpec]
    status: HorizontalPodAutoscalerStatus


class HorizontalPodAutoscalerBehavior(TypedDict, total=False):
    """Type of `HorizontalPodAutoscalerSpec.behavior`."""

    scaleDown: HPAScalingRules
    scaleUp: HPAScalingRules


class HorizontalPodAutoscalerCondition(TypedDict, total=False):
    """Type of `HorizontalPodAutoscalerStatus.conditions`."""

    lastTransitionTime: meta_v1.Time
    message: str
    reason: str
    status: Required[str]
    type: Required[str]


class HorizontalPodAutoscalerList(TypedDict, total=False):
    """Response with a list of `HorizontalPodAutoscaler`."""

    apiVersion: Required[Literal["autoscaling/v2"]]
    items: Required[list[HorizontalPodAutoscaler]]
    kind: Required[Literal["HorizontalPodAutoscalerList"]]
    metadata: Required[meta_v1.ListMeta]


class HorizontalPodAutoscalerSpec(TypedDict, total=False):
    """Type of `HorizontalPodAutoscaler.spec`."""

    behavior: HorizontalPodAutoscalerBehavior
    maxReplicas: Required[int]
    metrics: list[MetricSpec]
    minReplicas: int
    scaleTargetRef: Required[CrossVersionObjectReference]


class HorizontalPodAutoscalerStatus(TypedDict, total=False):
    """Type of `HorizontalPodAutoscaler.status`."""

    conditions: list[HorizontalPodAutoscalerCondition]
    currentMetrics: list[MetricStatus]
    currentReplicas: int
    desiredReplicas: Required[int]
    lastScaleTime: meta_v1.Time
    observedGeneration: int


class MetricIdentifier(TypedDict, total=False):
    """Type of `ExternalMetricSource.metric`, `ExternalMetricStatus.metric` and more fields."""

    name: Required[str]
    selector: meta_v1.LabelSelector


class MetricSpec(TypedDict, total=False):
    """Type of `HorizontalPodAutoscalerSpec.metrics`."""

    containerResource: ContainerResourceMetricSource
    external: ExternalMetricSource
    object: ObjectMetricSource
    pods: PodsMetricSource
    resource: ResourceMetricSource
    type: Required[str]


class MetricStatus(TypedDict, total=False):
    """Type of `HorizontalPodAutoscalerStatus.currentMetrics`."""

    containerResource: ContainerResourceMetricStatus
    external: ExternalMetricStatus
    object: ObjectMetricStatus
    pods: PodsMetricStatus
    resource: ResourceMetricStatus
    type: Required[str]


class MetricTarget(TypedDict, total=False):
    """Type of `ContainerResourceMetricSource.target`, `ExternalMetricSource.target` and more fields."""

    averageUtilization: int
    averageValue: meta_v1.Quantity
    type: Required[str]
    value: meta_v1.Quantity


class MetricValueStatus(TypedDict, total=False):
    """Type of `ContainerResourceMetricStatus.current`, `ExternalMetricStatus.current` and more fields."""

    averageUtilization: int
    averageValue: meta_v1.Quantity
    value: meta_v1.Quantity


class ObjectMetricSource(TypedDict, total=False):
    """Type of `MetricSpec.object`."""

    describedObject: Required[CrossVersionObjectReference]
    metric: Required[MetricIdentifier]
    target: Required[MetricTarget]


class ObjectMetricStatus(TypedDict, total=False):
    """Type of `MetricStatus.object`."""

    current: Required[MetricValueStatus]
    describedObject: Required[CrossVersionObjectReference]
    metric: Required[MetricIdentifier]


class PodsMetricSource(TypedDict, total=False):
    """Type of `MetricSpec.pods`."""

    metric: Required[MetricIdentifier]
    target: Required[MetricTarget]


class PodsMetricStatus(TypedDict, total=False):
    """Type of `MetricStatus.pods`."""

    current: Required[MetricValueStatus]
    metric: Required[MetricIdentifier]


class ResourceMetricSource(TypedDict, total=False):
    """Type of `MetricSpec.resource`."""

    name: Required[str]
    target: Required[MetricTarget]


class ResourceMetricStatus(TypedDict, total=False):
    """Type of `MetricStatus.resource`."""

    current: Required[MetricValueStatus]
    name: Required[str]


GROUP_VERSION: Final = GroupVersion("autoscaling", "v2")

RESOURCES: Final = {
    "HorizontalPodAutoscaler": ("horizontalpodautoscalers", True),
}
"""Resources by their kinds, and True if they are in namespaces."""
