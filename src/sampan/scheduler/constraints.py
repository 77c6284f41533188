"""`Constraints`: the scheduling constraints in a Pod's spec, computed once for all Pods with the same spec."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sampan.core.label_selectors import NOTHING, Operator, Requirement, Selector, selector_from_label_selector
from sampan.core.pods.tolerations import Toleration
from sampan.scheduler.amounts import CPU, MEMORY, NONZERO_CPU, NONZERO_MEMORY, pod_requests
from sampan.scheduler.views import (
    NodeAffinity,
    PodAffinity,
    PodSpec,
    PodTerm,
    SpreadConstraint,
    Volume,
    decode_pod_spec,
)

HostPort = tuple[str, str, int]
"""Protocol, address and port on the Node."""


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """Selection of Pods by namespace (or a selector of namespaces) and labels."""

    topology_key: str
    selector: Selector
    namespaces: frozenset[str]
    """If empty, and without a selector of namespaces, the term means the Pod's own namespace."""
    namespace_selector: Selector | None

    def in_namespace(self, namespace: str) -> "AffinityTerm":
        """Return the term for a Pod in a namespace."""
        if self.namespaces or self.namespace_selector is not None:
            return self
        return AffinityTerm(self.topology_key, self.selector, frozenset((namespace,)), None)


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A preferred term; anti-affinity has a negative weight."""

    weight: int
    term: AffinityTerm


@dataclass(frozen=True, slots=True)
class Spread:
    """A topology spread constraint."""

    max_skew: int
    topology_key: str
    hard: bool
    selector: Selector
    match_label_keys: tuple[str, ...]
    min_domains: int
    honors_affinity: bool
    honors_taints: bool


@dataclass(frozen=True, slots=True, eq=False)
class Constraints:
    """Part of a Pod's spec that determines the Nodes on which it can run and should run."""

    requests: tuple[tuple[str, int], ...]
    """Amounts above zero, by resource."""
    nonzero: tuple[int, int]
    """Requested CPU and memory, with the defaults that scores use for containers without requests."""
    host_ports: tuple[HostPort, ...]
    tolerations: tuple[Toleration, ...]
    node_selector: tuple[tuple[str, str], ...]
    node_affinity: NodeAffinity
    affinity: tuple[AffinityTerm, ...]
    anti_affinity: tuple[AffinityTerm, ...]
    preferred: tuple[WeightedTerm, ...]
    spread: tuple[Spread, ...]
    images: tuple[str, ...]
    volumes: tuple[Volume, ...]
    """Volumes that restrict the choice of Nodes: claims, and disks that not every Node can attach."""
    gates: tuple[str, ...]
    scheduler_name: str
    node_name: str
    priority: int
    may_preempt: bool

    @property
    def has_pod_terms(self) -> bool:
        """True if the location of other Pods affects this Pod."""
        return bool(self.affinity or self.anti_affinity or self.preferred)


SPECS_KEPT_MAX: Final = 512
"""Maximum number of cached specs, about 5 kB each. Most specs are unique, because the token's volume has a random name.
Such a spec is needed again only while its Pod waits.
"""


@functools.lru_cache(SPECS_KEPT_MAX)
def constraints_of(spec: bytes) -> Constraints:
    """Parse a Pod's spec. Raises `ValueError` (from msgspec) if it is malformed."""
    return make_constraints(decode_pod_spec(spec))


def make_constraints(spec: PodSpec) -> Constraints:
    """Return all that a Pod demands of a Node, in the form that plugins compare with tables of Nodes."""
    requests = pod_requests(spec)
    scored = pod_requests(spec, {CPU: NONZERO_CPU, MEMORY: NONZERO_MEMORY})
    affinity = spec.affinity
    near = (affinity and affinity.pod_affinity) or PodAffinity()
    far = (affinity and affinity.pod_anti_affinity) or PodAffinity()
    return Constraints(
        requests=tuple(sorted((resource, value) for resource, value in requests.items() if value)),
        nonzero=(scored.get(CPU, 0), scored.get(MEMORY, 0)),
        host_ports=_host_ports(spec),
        tolerations=spec.tolerations,
        node_selector=tuple(sorted(spec.node_selector.items())),
        node_affinity=(affinity and affinity.node_affinity) or NodeAffinity(),
        affinity=_terms(near.required),
        anti_affinity=_terms(far.required),
        preferred=(
            *(WeightedTerm(each.weight, _term(each.pod_affinity_term)) for each in near.preferred),
            *(WeightedTerm(-each.weight, _term(each.pod_affinity_term)) for each in far.preferred),
        ),
        spread=tuple(_spread(each) for each in spec.topology_spread_constraints),
        images=tuple(normalized_image(each.image) for each in (*spec.init_containers, *spec.containers)),
        volumes=tuple(volume for volume in spec.volumes if _matters(volume)),
        gates=tuple(gate.name for gate in spec.scheduling_gates),
        scheduler_name=spec.scheduler_name,
        node_name=spec.node_name,
        priority=spec.priority or 0,
        may_preempt=spec.preemption_policy != "Never",
    )


def normalized_image(name: str) -> str:
    """Return an image's name with its tag, `latest` by default."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


def selector_with_keys(spread: Spread, labels: Mapping[str, str]) -> Selector:
    """Return the selector of a constraint for a Pod with these labels (`matchLabelKeys`)."""
    keys = [key for key in spread.match_label_keys if key in labels]
    if not keys or spread.selector.nothing:
        return spread.selector
    own = (Requirement(key, Operator.EQUALS, (labels[key],)) for key in keys)
    return Selector((*spread.selector.requirements, *own))


def _host_ports(spec: PodSpec) -> tuple[HostPort, ...]:
    sidecars = [container for container in spec.init_containers if container.restart_policy == "Always"]
    return tuple(
        (port.protocol, port.host_ip or "0.0.0.0", port.host_port)
        for container in (*spec.containers, *sidecars)
        for port in container.ports
        if port.host_port > 0
    )


def _terms(terms: Sequence[PodTerm]) -> tuple[AffinityTerm, ...]:
    return tuple(_term(term) for term in terms)


def _term(term: PodTerm) -> AffinityTerm:
    namespaces = term.namespace_selector
    return AffinityTerm(
        term.topology_key,
        _selector(term.label_selector),
        frozenset(term.namespaces),
        None if namespaces is None else _selector(namespaces),
    )


def _selector(label_selector: Mapping[str, object] | None) -> Selector:
    try:
        return selector_from_label_selector(label_selector)
    except ValueError:
        return NOTHING


def _spread(constraint: SpreadConstraint) -> Spread:
    return Spread(
        max_skew=constraint.max_skew,
        topology_key=constraint.topology_key,
        hard=constraint.when_unsatisfiable == "DoNotSchedule",
        selector=_selector(constraint.label_selector),
        match_label_keys=tuple(constraint.match_label_keys),
        min_domains=constraint.min_domains or 1,
        honors_affinity=constraint.node_affinity_policy == "Honor",
        honors_taints=constraint.node_taints_policy == "Honor",
    )


def _matters(volume: Volume) -> bool:
    return any(
        source is not None
        for source in (
            volume.persistent_volume_claim,
            volume.ephemeral,
            volume.gce_persistent_disk,
            volume.aws_elastic_block_store,
            volume.rbd,
            volume.iscsi,
        )
    )
