"""Read-only views of the parts of Pods and Nodes that the scheduler uses.

A Pod's spec is decoded in a second step: Pods of one template have the same bytes, so their constraints are computed
only once (`constraints.py`).
"""

from typing import Any

import msgspec

from sampan.core.pods.node_affinity import NodeSelector, NodeTerm
from sampan.core.pods.tolerations import Taint, Toleration
from sampan.resource.meta import OwnerReference
from sampan.resource.view import view_decoder

Labels = dict[str, str]


class PodMeta(msgspec.Struct, rename="camel", gc=False):
    """The metadata of a Pod that the scheduler reads."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: Labels = msgspec.field(default_factory=dict)
    owner_references: list[OwnerReference] = msgspec.field(default_factory=list)


class PodCondition(msgspec.Struct, rename="camel", gc=False):
    """Entry of `status.conditions`."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class PodStatus(msgspec.Struct, rename="camel", gc=False):
    """The status of a Pod that the scheduler reads."""

    phase: str = ""
    nominated_node_name: str = ""
    start_time: str | None = None
    conditions: list[PodCondition] = msgspec.field(default_factory=list)


class PodHead(msgspec.Struct, gc=False):
    """A Pod whose spec is not decoded yet."""

    metadata: PodMeta
    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class Requirements(msgspec.Struct, gc=False):
    """Resources of a container or a Pod. Quantities are strings or numbers."""

    requests: dict[str, str | int | float] = msgspec.field(default_factory=dict)
    limits: dict[str, str | int | float] = msgspec.field(default_factory=dict)


class ContainerPort(msgspec.Struct, rename="camel", gc=False):
    """Fields that decide about conflicts of host ports on a Node. `host_port` is 0 for none."""

    host_port: int = 0
    host_ip: str = msgspec.field(name="hostIP", default="")
    protocol: str = "TCP"
    container_port: int = 0


class Container(msgspec.Struct, rename="camel", gc=False):
    """A container with the fields that matter for scheduling."""

    image: str = ""
    restart_policy: str = ""
    resources: Requirements = msgspec.field(default_factory=Requirements)
    ports: list[ContainerPort] = msgspec.field(default_factory=list)


class PreferredNodeTerm(msgspec.Struct, frozen=True, gc=False):
    """A preferred node term with its weight."""

    weight: int = 0
    preference: NodeTerm = NodeTerm()


class NodeAffinity(msgspec.Struct, frozen=True, gc=False):
    """Required and preferred node affinity."""

    required: NodeSelector | None = msgspec.field(name="requiredDuringSchedulingIgnoredDuringExecution", default=None)
    preferred: tuple[PreferredNodeTerm, ...] = msgspec.field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=()
    )


class PodTerm(msgspec.Struct, rename="camel", gc=False):
    """Term of pod (anti-)affinity: Pods that a selector matches in some namespaces, within one topology."""

    topology_key: str = ""
    label_selector: dict[str, Any] | None = None
    namespaces: list[str] = msgspec.field(default_factory=list)
    namespace_selector: dict[str, Any] | None = None


class PreferredPodTerm(msgspec.Struct, rename="camel", gc=False):
    """A preferred pod affinity term with its weight."""

    weight: int = 0
    pod_affinity_term: PodTerm = msgspec.field(default_factory=PodTerm)


class PodAffinity(msgspec.Struct, gc=False):
    """Required and preferred pod affinity, or anti-affinity."""

    required: list[PodTerm] = msgspec.field(name="requiredDuringSchedulingIgnoredDuringExecution", default_factory=list)
    preferred: list[PreferredPodTerm] = msgspec.field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default_factory=list
    )


class Affinity(msgspec.Struct, rename="camel", gc=False):
    """All affinities of a Pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class SpreadConstraint(msgspec.Struct, rename="camel", gc=False):
    """Limit of the difference in the number of matching Pods between the domains of a topology."""

    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = "DoNotSchedule"
    label_selector: dict[str, Any] | None = None
    min_domains: int | None = None
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"
    match_label_keys: list[str] = msgspec.field(default_factory=list)


class ClaimSource(msgspec.Struct, rename="camel", gc=False):
    """A reference to a claim."""

    claim_name: str = ""


class Volume(msgspec.Struct, rename="camel", gc=False):
    """A volume with the sources that matter for scheduling."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: dict[str, Any] | None = None
    gce_persistent_disk: dict[str, Any] | None = None
    aws_elastic_block_store: dict[str, Any] | None = None
    rbd: dict[str, Any] | None = None
    iscsi: dict[str, Any] | None = None


class PodSchedulingGate(msgspec.Struct, gc=False):
    """Name of a gate. A Pod with gates is not scheduled until all are removed."""

    name: str = ""


class PodSpec(msgspec.Struct, rename="camel", gc=False):
    """The spec of a Pod that the scheduler reads."""

    node_name: str = ""
    scheduler_name: str = "default-scheduler"
    priority: int | None = None
    preemption_policy: str = "PreemptLowerPriority"
    host_network: bool = False
    node_selector: dict[str, str] = msgspec.field(default_factory=dict)
    containers: list[Container] = msgspec.field(default_factory=list)
    init_containers: list[Container] = msgspec.field(default_factory=list)
    resources: Requirements | None = None
    overhead: dict[str, str | int | float] = msgspec.field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    affinity: Affinity | None = None
    topology_spread_constraints: list[SpreadConstraint] = msgspec.field(default_factory=list)
    scheduling_gates: list[PodSchedulingGate] = msgspec.field(default_factory=list)
    volumes: list[Volume] = msgspec.field(default_factory=list)


class NodeMeta(msgspec.Struct, gc=False):
    """The metadata of a Node that the scheduler reads."""

    name: str = ""
    uid: str = ""
    labels: Labels = msgspec.field(default_factory=dict)


class NodeSpec(msgspec.Struct, gc=False):
    """The spec of a Node that the scheduler reads."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class ContainerImage(msgspec.Struct, rename="camel", gc=False):
    """An image on a Node."""

    names: list[str] = msgspec.field(default_factory=list)
    size_bytes: int = 0


class NodeStatus(msgspec.Struct, gc=False):
    """The status of a Node that the scheduler reads."""

    allocatable: dict[str, str | int | float] = msgspec.field(default_factory=dict)
    images: list[ContainerImage] = msgspec.field(default_factory=list)


class Node(msgspec.Struct, gc=False):
    """Fields of a Node that the scheduler reads."""

    metadata: NodeMeta
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)


decode_pod_head = view_decoder(PodHead)
decode_pod_spec = view_decoder(PodSpec)
decode_node = view_decoder(Node)
