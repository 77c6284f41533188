"""`NodeAdmission`: checks that a bound Pod fits its node: resources, host ports, labels and taints.

The scheduler checks the same before it binds a Pod. This check catches Pods that another client has bound, and two
schedulers that bind at the same time.
Source: kubernetes pkg/kubelet/lifecycle/predicate.go, pkg/scheduler/eventhandlers.go `AdmissionCheck` (1.36).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sampan.core.numbers.resource_amounts import Amounts, amounts
from sampan.core.pods.node_affinity import selects
from sampan.core.pods.tolerations import NO_EXECUTE, Taint, untolerated
from sampan.node.admission.demand import DemandSpec, HostPort, demand_of
from sampan.node.node_home import NodeHome

ANY_ADDRESS: Final = "0.0.0.0"


@dataclass(frozen=True, slots=True)
class PodRejection:
    """Reason why a Pod cannot start, or cannot stay, on its node."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class LabelsAndTaints:
    """Labels and taints of a Node object."""

    labels: Mapping[str, str]
    taints: tuple[Taint, ...] = ()


@dataclass(slots=True)
class _Taken:
    """Resources and ports in use on a node."""

    capacity: Amounts
    used: Amounts = field(default_factory=dict)
    ports: set[HostPort] = field(default_factory=set)
    pods: dict[str, tuple[Amounts, tuple[HostPort, ...]]] = field(default_factory=dict)


class NodeAdmission:
    """Accounts for the resources and ports that the Pods of some nodes use."""

    def __init__(self, nodes: Mapping[str, NodeHome], facts: Callable[[str], LabelsAndTaints | None]) -> None:
        """`facts` returns the labels and taints of a Node by name, or None if it is unknown."""
        self._nodes = nodes
        self._facts = facts
        self._taken: dict[str, _Taken] = {}

    def count(self, node: str, uid: str, raw: bytes) -> None:
        """Count a Pod that was admitted before the agent started."""
        self._add(node, uid, demand_of(raw))

    def admit(self, node: str, uid: str, raw: bytes) -> PodRejection | None:
        """Admit and count a Pod, or return the reason for a refusal. A counted Pod stays admitted."""
        taken = self._of(node)
        # Admission happens once. A change of taints or labels must not stop a Pod that already runs.
        if uid in taken.pods:
            return None
        demand = demand_of(raw)
        desired, ports = demand.amounts(), demand.host_ports()
        # In the order of the kubelet, because only the first reason is reported.
        refusal = _insufficient(taken, desired) or self._misplaced(node, demand)
        if refusal is None and ports and _conflict(ports, taken.ports):
            refusal = _predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports")
        refusal = refusal or self._tainted(node, demand)
        if refusal is None:
            self._add(node, uid, demand)
        return refusal

    def resize(self, node: str, uid: str, raw: bytes) -> PodRejection | None:
        """Count a Pod with the requests it has now, or return why the node has no room for them.

        The reason is `Infeasible` if the node will never have room, else `Deferred`.
        """
        taken = self._of(node)
        demand = demand_of(raw)
        desired, before = demand.amounts(), taken.pods.get(uid, ({}, ()))[0]
        for resource, value in desired.items() if taken.capacity else ():
            capacity = taken.capacity.get(resource, 0)
            if value > capacity and ("/" not in resource or resource in taken.capacity):
                text = f"Node didn't have enough capacity: {resource}, requested: {value}, capacity: {capacity}"
                return PodRejection("Infeasible", text)
            used = taken.used.get(resource, 0) - before.get(resource, 0)
            if value > before.get(resource, 0) and value > capacity - used:
                return PodRejection("Deferred", _out_of(resource, value, used, capacity).message)
        self.release(node, uid)
        self._add(node, uid, demand)
        return None

    def release(self, node: str, uid: str) -> None:
        """Release the resources of a Pod that has ended or was deleted."""
        taken = self._taken.get(node)
        found = taken.pods.pop(uid, None) if taken is not None else None
        if taken is None or found is None:
            return
        for resource, value in found[0].items():
            taken.used[resource] -= value
        # No other Pod has these ports: admission refuses a conflict.
        taken.ports.difference_update(found[1])

    def _of(self, node: str) -> _Taken:
        taken = self._taken.get(node)
        if taken is None:
            taken = self._taken[node] = _Taken(amounts(dict(self._nodes[node].allocatable)))
        return taken

    def _add(self, node: str, uid: str, demand: DemandSpec) -> None:
        taken = self._of(node)
        if uid in taken.pods:
            return
        desired, ports = demand.amounts(), demand.host_ports()
        taken.pods[uid] = (desired, ports)
        for resource, value in desired.items():
            taken.used[resource] = taken.used.get(resource, 0) + value
        taken.ports.update(ports)

    def _misplaced(self, node: str, demand: DemandSpec) -> PodRejection | None:
        required = demand.affinity.required if demand.affinity is not None else None
        if not demand.node_selector and required is None:
            return None
        facts = self._facts(node)
        labels = self._nodes[node].labels if facts is None else facts.labels
        if all(labels.get(name) == value for name, value in demand.node_selector.items()) and (
            required is None or selects(required, node, labels)
        ):
            return None
        return _predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")

    def _tainted(self, node: str, demand: DemandSpec) -> PodRejection | None:
        facts = self._facts(node)
        if facts is None or not facts.taints or untolerated(demand.tolerations, facts.taints, (NO_EXECUTE,)) is None:
            return None
        return _predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate")


def _insufficient(taken: _Taken, desired: Amounts) -> PodRejection | None:
    """Return a refusal if the node has not enough of a resource left."""
    if not taken.capacity:
        return None
    pods = taken.capacity.get("pods")
    if pods is not None and len(taken.pods) + 1 > pods:
        return _out_of("pods", 1, len(taken.pods), pods)
    for resource, value in desired.items():
        capacity = taken.capacity.get(resource)
        if capacity is None and "/" in resource:
            # An unknown extended resource may be managed by another component, for example a scheduler extender.
            continue
        used = taken.used.get(resource, 0)
        if value and value > (capacity or 0) - used:
            return _out_of(resource, value, used, capacity or 0)
    return None


def _out_of(resource: str, requested: int, used: int, capacity: int) -> PodRejection:
    text = f"Node didn't have enough resource: {resource}, requested: {requested}, used: {used}, capacity: {capacity}"
    return PodRejection(f"OutOf{resource}", text)


def _predicate(name: str, text: str) -> PodRejection:
    return PodRejection(name, f"Predicate {name} failed: {text}")


def _conflict(desired: tuple[HostPort, ...], taken: set[HostPort]) -> bool:
    return any(
        protocol == theirs
        and port == their_port
        and (ANY_ADDRESS in (address, their_address) or address == their_address)
        for protocol, address, port in desired
        for theirs, their_address, their_port in taken
    )
