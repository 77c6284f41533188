"""Types of node/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import core_v1, meta_v1


class Overhead(TypedDict, total=False):
    """Type of `RuntimeClass.overhead`."""

    podFixed: dict[str, meta_v1.Quantity]


class RuntimeClass(TypedDict, total=False):
    """Object of the resource `runtimeclasses`."""

    apiVersion: Required[Literal["node.k8s.io/v1"]]
    handler: Required[str]
    kind: Required[Literal["RuntimeClass"]]
    metadata: Required[meta_v1.ObjectMeta]
    overhead: Overhead
    scheduling: Scheduling


class RuntimeClassList(TypedDict, total=False):
    """Response with a list of `RuntimeClass`."""

    apiVersion: Required[Literal["node.k8s.io/v1"]]
    items: Required[list[RuntimeClass]]
    kind: Required[Literal["RuntimeClassList"]]
    metadata: Required[meta_v1.ListMeta]


class Scheduling(TypedDict, total=False):
    """Type of `RuntimeClass.scheduling`."""

    nodeSelector: dict[str, str]
    tolerations: list[core_v1.Toleration]


GROUP_VERSION: Final = GroupVersion("node.k8s.io", "v1")

RESOURCES: Final = {
    "RuntimeClass": ("runtimeclasses", False),
}
"""Resources by their kinds, and True if they are in namespaces."""
