"""Views: partial, read-only types for the kinds with the most objects. They hold the fields that control loops read.

Loops decode thousands of Pods again and again. Decoding a view takes a few µs, decoding a whole Pod about 20 µs. To
write, send a patch or read the whole object. All loops of a process that watch a view share one informer.
"""

from typing import Any

import msgspec

from sampan.component_base.resources import NODES, PODS
from sampan.core.pods.tolerations import Taint
from sampan.resource import ObjectMeta, ObjectType
from sampan.resource.view import view_decoder


class PodCondition(msgspec.Struct, rename="camel", gc=False):
    """Entry of `status.conditions` of a Pod. `status` is "True", "False" or "Unknown"."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class ContainerStatus(msgspec.Struct, rename="camel", gc=False):
    """Observed state of one container."""

    name: str = ""
    ready: bool = False
    restart_count: int = 0
    started: bool | None = None
    state: dict[str, Any] = msgspec.field(default_factory=dict)


class PodStatus(msgspec.Struct, rename="camel"):
    """Observed state of a Pod."""

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
    """Desired state of an init container; with the restart policy Always it is a sidecar."""

    name: str = ""
    restart_policy: str = ""
    ports: list[dict[str, Any]] = msgspec.field(default_factory=list)


class PodSpec(msgspec.Struct, rename="camel"):
    """The part of a Pod's spec that most loops read; its containers, volumes and affinity stay undecoded."""

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
    """The part of a Pod that control loops read."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)

    def condition(self, type: str) -> PodCondition | None:
        """Return the condition of a type, or None if the Pod has none."""
        return next((condition for condition in self.status.conditions if condition.type == type), None)

    @property
    def is_ready(self) -> bool:
        """Return True if the Pod has the condition Ready."""
        ready = self.condition("Ready")
        return ready is not None and ready.status == "True"

    @property
    def is_terminated(self) -> bool:
        """Return True if all containers have ended and none will be restarted."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def is_active(self) -> bool:
        """Return True if the Pod runs or will run: it has not ended and is not being deleted."""
        return not self.is_terminated and self.metadata.deletion_timestamp is None


class NodeSpec(msgspec.Struct, rename="camel", gc=False):
    """The part of a Node's spec that control loops read."""

    unschedulable: bool = False
    pod_cidr: str = msgspec.field(name="podCIDR", default="")
    taints: list[Taint] = msgspec.field(default_factory=list)


class Node(msgspec.Struct, gc=False):
    """The part of a Node that control loops read."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)


class _Bound(msgspec.Struct, rename="camel", frozen=True, gc=False):
    node_name: str = ""


class _WithNode(msgspec.Struct, gc=False):
    spec: _Bound = _Bound()


_bound = view_decoder(_WithNode)


def node_name_of(raw: bytes) -> str:
    """Return the node a Pod is bound to, decoded from the Pod's JSON; empty if the Pod is not bound."""
    return _bound(raw).spec.node_name


def _read_only(obj: Any) -> bytes:
    raise ValueError("a view cannot be written: patch the object, or read all of it")


POD_VIEW: ObjectType[Pod] = ObjectType(PODS, view_decoder(Pod), _read_only)
NODE_VIEW: ObjectType[Node] = ObjectType(NODES, view_decoder(Node), _read_only)
