"""Views: of a kind that there is much of, the part that control loops look at. Read only.

A loop over 2,000 Pods decodes them each time; a view costs a few µs where the whole object costs twenty. Writes are
patches, or are made of the whole object. All loops of a process that watch a view share one informer.
"""

from typing import Any

import msgspec

from sampan.core.tolerations import Taint
from sampan.loops.resources import NODES, PODS
from sampan.resource import ObjectMeta, ObjectType


class PodCondition(msgspec.Struct, rename="camel", gc=False):
    """A condition of a Pod."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class ContainerStatus(msgspec.Struct, rename="camel", gc=False):
    """What is told of a container."""

    name: str = ""
    ready: bool = False
    restart_count: int = 0
    started: bool | None = None
    state: dict[str, Any] = msgspec.field(default_factory=dict)


class PodStatus(msgspec.Struct, rename="camel"):
    """What is told of a Pod."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    pod_ip: str = msgspec.field(name="podIP", default="")
    pod_ips: list[dict[str, str]] = msgspec.field(name="podIPs", default_factory=list)
    start_time: str | None = None
    nominated_node_name: str = ""
    conditions: list[PodCondition] = msgspec.field(default_factory=list)
    container_statuses: list[ContainerStatus] = msgspec.field(default_factory=list)
    init_container_statuses: list[ContainerStatus] = msgspec.field(default_factory=list)


class InitContainer(msgspec.Struct, rename="camel", gc=False):
    """What is wanted of an init container; with the restart policy Always it is a sidecar."""

    name: str = ""
    restart_policy: str = ""
    ports: list[dict[str, Any]] = msgspec.field(default_factory=list)


class PodSpec(msgspec.Struct, rename="camel"):
    """What is wanted of a Pod, as far as most loops care; its containers, volumes and affinity stay undecoded."""

    node_name: str = ""
    scheduler_name: str = ""
    restart_policy: str = ""
    hostname: str = ""
    subdomain: str = ""
    host_network: bool = False
    priority: int | None = None
    termination_grace_period_seconds: int | None = None
    containers: list[msgspec.Raw] = msgspec.field(default_factory=list)
    init_containers: list[InitContainer] = msgspec.field(default_factory=list)
    volumes: msgspec.Raw = msgspec.Raw(b"[]")
    affinity: msgspec.Raw = msgspec.Raw(b"{}")


class Pod(msgspec.Struct, rename="camel"):
    """A Pod, seen by control loops."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)

    def condition(self, type: str) -> PodCondition | None:
        """The condition of a type; None when nothing is told of it."""
        return next((condition for condition in self.status.conditions if condition.type == type), None)

    @property
    def is_ready(self) -> bool:
        """Whether it can serve."""
        ready = self.condition("Ready")
        return ready is not None and ready.status == "True"

    @property
    def is_terminated(self) -> bool:
        """Whether its containers have ended for good."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def is_active(self) -> bool:
        """Whether it runs, or will: neither ended nor being deleted."""
        return not self.is_terminated and self.metadata.deletion_timestamp is None


class NodeSpec(msgspec.Struct, rename="camel", gc=False):
    """What is wanted of a Node."""

    unschedulable: bool = False
    pod_cidr: str = msgspec.field(name="podCIDR", default="")
    taints: list[Taint] = msgspec.field(default_factory=list)


class Node(msgspec.Struct, gc=False):
    """A Node, seen by control loops that place Pods."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)


class _Bound(msgspec.Struct, rename="camel", frozen=True, gc=False):
    node_name: str = ""


class _WithNode(msgspec.Struct, gc=False):
    spec: _Bound = _Bound()


_bound = msgspec.json.Decoder(_WithNode)


def node_name_of(raw: bytes) -> str:
    """The node that a Pod is bound to, of its JSON; empty while there is none."""
    return _bound.decode(raw).spec.node_name


def _read_only(obj: Any) -> bytes:
    raise ValueError("a view cannot be written: patch the object, or read all of it")


POD_VIEW: ObjectType[Pod] = ObjectType(PODS, msgspec.json.Decoder(Pod).decode, _read_only)
NODE_VIEW: ObjectType[Node] = ObjectType(NODES, msgspec.json.Decoder(Node).decode, _read_only)
