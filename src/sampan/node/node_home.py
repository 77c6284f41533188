"""`NodeHome`: a node, seen by the agent."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sampan.node.runtime import Runtime


@dataclass(frozen=True, slots=True)
class NodeHome:
    """Where a node is, what runs its containers, and what it has for them."""

    host_ip: str
    runtime: Runtime
    allocatable: Mapping[str, str] = field(default_factory=dict)
    """Quantities by resource; empty: Pods are not measured by it."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Those that the node gives itself: what counts until its Node is known."""
