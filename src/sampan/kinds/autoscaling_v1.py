"""Types of autoscaling/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class CrossVersionObjectReference(TypedDict, total=False):
    """Type of `HorizontalPodAutoscalerSpec.scaleTargetRef`."""

    apiVersion: str
    kind: Required[str]
    name: Required[str]


class HorizontalPodAutoscaler(TypedDict, total=False):
    """Object of the resource `horizontalpodautoscalers` in a namespace."""

    apiVersion: Required[Literal["autoscaling/v1"]]
    kind: Required[Literal["HorizontalPodAutoscaler"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[HorizontalPodAutoscalerSpec]
    status: HorizontalPodAutoscalerStatus


class HorizontalPodAutoscalerList(TypedDict, total=False):
    """Response with a list of `HorizontalPodAutoscaler`."""

    apiVersion: Required[Literal["autoscaling/v1"]]
    items: Required[list[HorizontalPodAutoscaler]]
    kind: Required[Literal["HorizontalPodAutoscalerList"]]
    metadata: Required[meta_v1.ListMeta]


class HorizontalPodAutoscalerSpec(TypedDict, total=False):
    """Type of `HorizontalPodAutoscaler.spec`."""

    maxReplicas: Required[int]
    minReplicas: int
    scaleTargetRef: Required[CrossVersionObjectReference]
    targetCPUUtilizationPercentage: int


class HorizontalPodAutoscalerStatus(TypedDict, total=False):
    """Type of `HorizontalPodAutoscaler.status`."""

    currentCPUUtilizationPercentage: int
    currentReplicas: Required[int]
    desiredReplicas: Required[int]
    lastScaleTime: meta_v1.Time
    observedGeneration: int


class Scale(TypedDict, total=False):
    """Body of requests or responses."""

    apiVersion: Required[Literal["autoscaling/v1"]]
    kind: Required[Literal["Scale"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: ScaleSpec
    status: ScaleStatus


class ScaleSpec(TypedDict, total=False):
    """Type of `Scale.spec`."""

    replicas: int


class ScaleStatus(TypedDict, total=False):
    """Type of `Scale.status`."""

    replicas: Required[int]
    selector: str


GROUP_VERSION: Final = GroupVersion("autoscaling", "v1")

RESOURCES: Final = {
    "HorizontalPodAutoscaler": ("horizontalpodautoscalers", True),
}
"""Resources by their kinds, and True if they are in namespaces."""
