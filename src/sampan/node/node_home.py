"""`NodeHome`: a node of an agent."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sampan.node.runtime import Runtime


@dataclass(frozen=True, slots=True)
class NodeHome:
    """Address, runtime and resources of a node."""

    host_ips: tuple[str, ...]
    """One address of the node, or one of each IP family."""
    runtime: Runtime
    allocatable: Mapping[str, str] = field(default_factory=dict)
    """Quantities by resource; if empty, all Pods are admitted, whatever they request."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels that the node registers with. They apply until its Node object is known."""
