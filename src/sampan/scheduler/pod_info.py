"""`PodInfo`: a Pod in the form that the scheduler's plugins use."""

from dataclasses import dataclass, replace

import msgspec

from sampan.resource.meta import OwnerReference
from sampan.resource.view import view_decoder
from sampan.scheduler.constraints import AffinityTerm, Constraints, WeightedTerm, constraints_of
from sampan.scheduler.views import Labels, PodCondition, PodHead, decode_pod_head

ENDED = ("Succeeded", "Failed")
"""Phases of Pods that no longer use resources."""


@dataclass(frozen=True, slots=True, eq=False)
class PodInfo:
    """One immutable state of a Pod."""

    namespace: str
    name: str
    uid: str
    labels: Labels
    constraints: Constraints
    node_name: str = ""
    nominated_node_name: str = ""
    phase: str = ""
    created: str = ""
    started: str = ""
    resource_version: str = ""
    generation: int = 0
    is_terminating: bool = False
    controller: OwnerReference | None = None
    scheduled: PodCondition | None = None
    """The condition PodScheduled."""

    @property
    def key(self) -> str:
        """Key of the Pod, `namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def priority(self) -> int:
        """Priority; Pods with a higher priority are scheduled first."""
        return self.constraints.priority

    @property
    def has_ended(self) -> bool:
        """True if the Pod no longer uses resources."""
        return self.phase in ENDED

    def on(self, node_name: str) -> "PodInfo":
        """Return a copy of the Pod that is assigned to a Node."""
        return replace(self, node_name=node_name)

    def required_anti_affinity(self) -> list[AffinityTerm]:
        """Return the required anti-affinity terms."""
        return [term.in_namespace(self.namespace) for term in self.constraints.anti_affinity]

    def required_affinity(self) -> list[AffinityTerm]:
        """Return the required affinity terms."""
        return [term.in_namespace(self.namespace) for term in self.constraints.affinity]

    def preferred_terms(self) -> list[WeightedTerm]:
        """Return the preferred terms; negative weights are anti-affinity."""
        return [
            WeightedTerm(each.weight, each.term.in_namespace(self.namespace)) for each in self.constraints.preferred
        ]


class _Placed(msgspec.Struct, rename="camel", gc=False):
    node_name: str = ""


_decode_placed = view_decoder(_Placed)


def _without_node_name(spec: bytes) -> tuple[bytes, str]:
    """Return the spec without the Node's name, and the Node's name.

    Without the name, all Pods of one template have the same bytes, so they share one cached `Constraints`.
    """
    node_name = _decode_placed(spec).node_name
    if node_name:
        # Inside a JSON string the quotes would be escaped, so this only matches the field itself.
        spec = spec.replace(b'"nodeName":"%b"' % node_name.encode(), b'"nodeName":""', 1)
    return spec, node_name


def read_pod(raw: bytes) -> PodInfo:
    """Read a Pod from its JSON. Raises `ValueError` (from msgspec)."""
    return pod_info(decode_pod_head(raw))


def pod_info(head: PodHead) -> PodInfo:
    """Return the `PodInfo` of a decoded `PodHead`."""
    metadata, status = head.metadata, head.status
    spec, node_name = _without_node_name(bytes(head.spec))
    constraints = constraints_of(spec)
    return PodInfo(
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        labels=metadata.labels,
        constraints=constraints,
        node_name=node_name,
        nominated_node_name=status.nominated_node_name,
        phase=status.phase,
        created=metadata.creation_timestamp or "",
        started=status.start_time or "",
        resource_version=metadata.resource_version,
        generation=metadata.generation,
        is_terminating=metadata.deletion_timestamp is not None,
        controller=next((each for each in metadata.owner_references if each.controller), None),
        scheduled=next((each for each in status.conditions if each.type == "PodScheduled"), None),
    )
