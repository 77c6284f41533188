"""Types of scheduling/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class PriorityClass(TypedDict, total=False):
    """Object of the resource `priorityclasses`."""

    apiVersion: Required[Literal["scheduling.k8s.io/v1"]]
    description: str
    globalDefault: bool
    kind: Required[Literal["PriorityClass"]]
    metadata: Required[meta_v1.ObjectMeta]
    preemptionPolicy: str
    value: int


class PriorityClassList(TypedDict, total=False):
    """Response with a list of `PriorityClass`."""

    apiVersion: Required[Literal["scheduling.k8s.io/v1"]]
    items: Required[list[PriorityClass]]
    kind: Required[Literal["PriorityClassList"]]
    metadata: Required[meta_v1.ListMeta]


GROUP_VERSION: Final = GroupVersion("scheduling.k8s.io", "v1")

RESOURCES: Final = {
    "PriorityClass": ("priorityclasses", False),
}
"""Resources by their kinds, and True if they are in namespaces."""
