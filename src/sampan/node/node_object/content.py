"""Node objects, as the agent registers them.

Source: kubelet pkg/kubelet/kubelet_node_status.go, pkg/kubelet/nodestatus/setters.go (1.36).
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any, Final

from sampan.core.kubernetes_version import KUBERNETES_VERSION
from sampan.core.pods.simulated import HOSTS
from sampan.kinds import core_v1, meta_v1
from sampan.node.node_object.pod_addresses import pod_cidr

POLICIES_ENFORCED: Final = "NetworkPoliciesEnforced"
"""Condition of a node. The server reads it to warn clients that create policies without an effect."""
KUBELET_VERSION: Final = f"v{KUBERNETES_VERSION}"
"""Kubelet version whose behaviour the agent follows. Clients that check versions must be able to parse it."""
_NAMES: Final = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


@dataclass(frozen=True, slots=True)
class NodeShape:
    """Description and resources of a node. The defaults are those of a simulated node."""

    cpu: str = "8"
    memory: str = "32Gi"
    pods: int = 110
    ephemeral_storage: str = "100Gi"
    architecture: str = "amd64"
    runtime: str = "simulated"
    runtime_version: str = "simulated://1.0.0"
    kernel_version: str = "simulated"
    os_image: str = "Sampan simulated node"
    machine_id: str = ""
    """Empty to derive it from the node's name."""
    boot_id: str = ""
    runtime_handlers: Sequence[core_v1.NodeRuntimeHandler] = ()
    """Handlers of the runtime with their features, as in the Node's status."""
    has_pod_cidr: bool = True
    """True if the node registers with a pod CIDR."""

    def allocatable(self) -> dict[str, str]:
        """Return the resources that are available to Pods."""
        return {
            "cpu": self.cpu,
            "ephemeral-storage": self.ephemeral_storage,
            "memory": self.memory,
            "pods": str(self.pods),
        }

    def labels(self, name: str) -> dict[str, str]:
        """Return the labels that a node with this name registers with."""
        return {
            "beta.kubernetes.io/arch": self.architecture,
            "beta.kubernetes.io/os": "linux",
            "kubernetes.io/arch": self.architecture,
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "sampan.dev/runtime": self.runtime,
        }


@dataclass(frozen=True, slots=True)
class KubeletAddress:
    """Address of a node, and port of its server."""

    address: str
    port: int = 0
    """0: the node has no server."""
    second: str = ""
    """Address of the other IP family; empty if the node has none."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses, the main one first."""
        return (self.address, self.second) if self.second else (self.address,)


def host_ip(number: int) -> str:
    """Return the address of the simulated node with this number, from 0. Nothing is reachable there."""
    return str(HOSTS.network_address + 1 + number % (HOSTS.num_addresses - 2))


def new_node(name: str, number: int, shape: NodeShape, *, where: KubeletAddress, now: str) -> core_v1.Node:
    """Return a Node for its registration."""
    spec: core_v1.NodeSpec = {}
    if shape.has_pod_cidr:
        cidr = pod_cidr(number)
        spec = {"podCIDR": cidr, "podCIDRs": [cidr]}
    # The server adds the fields of a status that a Node always has.
    status: Any = node_status(name, where, shape)
    status["conditions"] = conditions(now)
    metadata: meta_v1.ObjectMeta = {"name": name, "labels": shape.labels(name)}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def node_status(name: str, where: KubeletAddress, shape: NodeShape) -> dict[str, Any]:
    """Return the part of the status that does not change while the agent runs."""
    amounts = shape.allocatable()
    identity = str(uuid.uuid5(_NAMES, name))
    status: dict[str, Any] = {
        "capacity": amounts,
        "allocatable": dict(amounts),
        "addresses": [
            *({"type": "InternalIP", "address": each} for each in where.addresses if each),
            {"type": "Hostname", "address": name},
        ],
        "nodeInfo": {
            "machineID": shape.machine_id or identity.replace("-", ""),
            "systemUUID": identity,
            "bootID": shape.boot_id or identity,
            "kernelVersion": shape.kernel_version,
            "osImage": shape.os_image,
            "containerRuntimeVersion": shape.runtime_version,
            "kubeletVersion": KUBELET_VERSION,
            "kubeProxyVersion": "",
            "operatingSystem": "linux",
            "architecture": shape.architecture,
        },
    }
    if shape.runtime_handlers:
        status["runtimeHandlers"] = list(shape.runtime_handlers)
    if where.port:
        status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": where.port}}
    return status


_PRESSURES: Final = {
    "MemoryPressure": ("True", "KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
    "DiskPressure": ("True", "KubeletHasDiskPressure", "kubelet has disk pressure"),
    "PIDPressure": ("True", "KubeletHasInsufficientPID", "kubelet has insufficient PID available"),
}


def conditions(
    now: str,
    before: list[core_v1.NodeCondition] | None = None,
    *,
    problem: str = "",
    pressures: Set[str] = frozenset(),
    network: str | None = None,
    policies: str | None = None,
) -> list[core_v1.NodeCondition]:
    """Return the conditions of a node. Those that do not change keep their transition time.

    `problem`: reason why the node is not ready; empty for a healthy node. `pressures`: conditions of pressure that
    are True. `network`: reason why the network of Pods is unavailable; empty if it is available, None if another
    program sets this condition. `policies`: the same for NetworkPolicies, which the node enforces or not.
    """
    current = {
        "MemoryPressure": ("False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        "DiskPressure": ("False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        "PIDPressure": ("False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        "Ready": ("False", "KubeletNotReady", problem)
        if problem
        else ("True", "KubeletReady", "kubelet is posting ready status"),
    }
    if network is not None:
        current["NetworkUnavailable"] = (
            ("True", "PodNetworkDiffers", network)
            if network
            else ("False", "PodNetworkIsUp", "routes and rules of the pod network are in place")
        )
    if policies is not None:
        current[POLICIES_ENFORCED] = (
            ("False", "NetworkPolicyOff", policies)
            if policies
            else ("True", "NetworkPolicyOn", "the rules of NetworkPolicies are in place")
        )
    current |= {name: value for name, value in _PRESSURES.items() if name in pressures}
    old = {condition["type"]: condition for condition in before or ()}
    return [
        {
            "type": name,
            "status": value,
            "lastHeartbeatTime": now,
            "lastTransitionTime": old[name]["lastTransitionTime"]
            if name in old and old[name]["status"] == value
            else now,
            "reason": reason,
            "message": message,
        }
        for name, (value, reason, message) in current.items()
    ]
