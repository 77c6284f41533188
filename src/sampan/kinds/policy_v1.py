"""Types of policy/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class Eviction(TypedDict, total=False):
    """Body of requests or responses."""

    apiVersion: Required[Literal["policy/v1"]]
    deleteOptions: meta_v1.DeleteOptions
    kind: Required[Literal["Eviction"]]
    metadata: Required[meta_v1.ObjectMeta]


class PodDisruptionBudget(TypedDict, total=False):
    """Object of the resource `poddisruptionbudgets` in a namespace."""

    apiVersion: Required[Literal["policy/v1"]]
    kind: Required[Literal["PodDisruptionBudget"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: PodDisruptionBudgetSpec
    status: PodDisruptionBudgetStatus


class PodDisruptionBudgetList(TypedDict, total=False):
    """Response with a list of `PodDisruptionBudget`."""

    apiVersion: Required[Literal["policy/v1"]]
    items: Required[list[PodDisruptionBudget]]
    kind: Required[Literal["PodDisruptionBudgetList"]]
    metadata: Required[meta_v1.ListMeta]


class PodDisruptionBudgetSpec(TypedDict, total=False):
    """Type of `PodDisruptionBudget.spec`."""

    maxUnavailable: meta_v1.IntOrString
    minAvailable: meta_v1.IntOrString
    selector: meta_v1.LabelSelector
    unhealthyPodEvictionPolicy: str


class PodDisruptionBudgetStatus(TypedDict, total=False):
    """Type of `PodDisruptionBudget.status`."""

    conditions: list[meta_v1.Condition]
    currentHealthy: int
    desiredHealthy: int
    disruptedPods: dict[str, meta_v1.Time]
    disruptionsAllowed: int
    expectedPods: int
    observedGeneration: int


GROUP_VERSION: Final = GroupVersion("policy", "v1")

RESOURCES: Final = {
    "PodDisruptionBudget": ("poddisruptionbudgets", True),
}
"""Resources by their kinds, and True if they are in namespaces."""
