"""Placement of a DaemonSet's Pods on Nodes, as pure functions.

The loop decides which Nodes get a Pod. Node affinity in each Pod names its Node, and the scheduler binds the Pod to it.
Source: kube-controller-manager pkg/controller/daemon/daemon_controller.go `NodeShouldRunDaemonPod`,
pkg/controller/daemon/util/daemonset_util.go (1.36).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from sampan.component_base.views import Node, Pod
from sampan.controllers.workloads.history import POD_HASH_LABEL
from sampan.controllers.workloads.pod_control import pod_from_template
from sampan.core.pods.node_affinity import NAME_FIELD, Affinity, NodeSelector, named_node, selects
from sampan.core.pods.tolerations import NO_EXECUTE, NO_SCHEDULE, Toleration, untolerated, with_toleration
from sampan.kinds import apps_v1, core_v1
from sampan.resource import meta
from sampan.resource.view import view_decoder, view_of

GENERATION_ANNOTATION: Final = "deprecated.daemonset.template.generation"
"""Annotation of a DaemonSet that counts the changes of its template."""
GENERATION_LABEL: Final = "pod-template-generation"
"""Label of a Pod with the template generation it was made from."""
_NODE: Final = "node.kubernetes.io"
_ALWAYS_TOLERATED: Final = (
    (f"{_NODE}/not-ready", NO_EXECUTE),
    (f"{_NODE}/unreachable", NO_EXECUTE),
    (f"{_NODE}/disk-pressure", NO_SCHEDULE),
    (f"{_NODE}/memory-pressure", NO_SCHEDULE),
    (f"{_NODE}/pid-pressure", NO_SCHEDULE),
    (f"{_NODE}/unschedulable", NO_SCHEDULE),
)
_TOLERATED_ON_HOST_NETWORK: Final = (f"{_NODE}/network-unavailable", NO_SCHEDULE)
_affinity = view_decoder(Affinity)


@dataclass(frozen=True, slots=True)
class Placement:
    """Constraints of a template on Nodes. Create it with `placement_of`."""

    node_name: str
    node_selector: Mapping[str, str]
    required: NodeSelector | None
    tolerations: list[Toleration]

    def should_run(self, node: Node) -> bool:
        """Return True if a Node should have a Pod."""
        return self._may_be_on(node) and untolerated(self.tolerations, node.spec.taints) is None

    def should_stay(self, node: Node) -> bool:
        """Return True if a running Pod may stay on the Node: NoSchedule taints do not evict it."""
        return self._may_be_on(node) and untolerated(self.tolerations, node.spec.taints, (NO_EXECUTE,)) is None

    def _may_be_on(self, node: Node) -> bool:
        name, labels = node.metadata.name, node.metadata.labels
        if self.node_name not in ("", name):
            return False
        if any(labels.get(key) != value for key, value in self.node_selector.items()):
            return False
        return self.required is None or selects(self.required, name, labels)


def placement_of(daemon_set: apps_v1.DaemonSet) -> Placement:
    """Return the constraints of a DaemonSet's template, with the tolerations that all DaemonSet Pods get."""
    spec = daemon_set["spec"]["template"]["spec"]
    affinity = view_of(spec.get("affinity") or {}, Affinity)
    return Placement(spec.get("nodeName") or "", spec.get("nodeSelector") or {}, affinity.required, _tolerations(spec))


def new_pod(daemon_set: apps_v1.DaemonSet, *, hashed: str) -> core_v1.Pod:
    """Return a Pod for any Node; `pinned` assigns it to one. `hashed` is the hash of its revision."""
    pod = pod_from_template(daemon_set["spec"]["template"], daemon_set)
    labels = pod["metadata"].setdefault("labels", {})
    generation = template_generation(daemon_set)
    if generation is not None:
        labels[GENERATION_LABEL] = generation
    labels[POD_HASH_LABEL] = hashed
    pod["spec"]["tolerations"] = msgspec.to_builtins(_tolerations(pod["spec"]))
    return pod


def pinned(pod: core_v1.Pod, node: str) -> core_v1.Pod:
    """Return a copy of a Pod that only fits one Node.

    The other node affinity terms are dropped: the caller has checked already that the Node meets them.
    """
    affinity = copy.deepcopy(pod["spec"].get("affinity") or {})
    term: core_v1.NodeSelectorTerm = {"matchFields": [{"key": NAME_FIELD, "operator": "In", "values": [node]}]}
    required: core_v1.NodeSelector = {"nodeSelectorTerms": [term]}
    affinity.setdefault("nodeAffinity", {})["requiredDuringSchedulingIgnoredDuringExecution"] = required
    return {**pod, "spec": {**pod["spec"], "affinity": affinity}}


def target_node(pod: Pod) -> str | None:
    """Return the Node a Pod is on or is meant for; None if it names none."""
    if pod.spec.node_name:
        return pod.spec.node_name
    required = _affinity(pod.spec.affinity).required
    return named_node(required) if required is not None else None


def template_generation(daemon_set: apps_v1.DaemonSet) -> str | None:
    """Return the number of template changes as text; None if it is not counted."""
    generation = meta(daemon_set).annotations.get(GENERATION_ANNOTATION)
    return generation if generation is not None and generation.removeprefix("-").isdecimal() else None


def is_updated(pod: Pod, hashed: str, generation: str | None) -> bool:
    """Return True if a Pod has the current template, by its revision's hash or by its generation."""
    labels = pod.metadata.labels
    return labels.get(POD_HASH_LABEL) == hashed or (
        generation is not None and labels.get(GENERATION_LABEL) == generation
    )


def _tolerations(spec: core_v1.PodSpec) -> list[Toleration]:
    tolerations = view_of(spec.get("tolerations") or [], list[Toleration])
    tolerated = (*_ALWAYS_TOLERATED, _TOLERATED_ON_HOST_NETWORK) if spec.get("hostNetwork") else _ALWAYS_TOLERATED
    for key, effect in tolerated:
        tolerations = with_toleration(tolerations, Toleration(key, "Exists", effect=effect))
    return tolerations
