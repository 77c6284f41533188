"""The Node objects of nodes, as they tell of themselves.

Source: kubelet pkg/kubelet/kubelet_node_status.go, pkg/kubelet/nodestatus/setters.go (1.36).
"""

import uuid
from dataclasses import dataclass
from typing import Any, Final

from sampan.core.kubernetes_version import KUBERNETES_VERSION
from sampan.node.addresses import pod_cidr
from sampan.resource import Object

KUBELET_VERSION: Final = f"v{KUBERNETES_VERSION}"
"""Which kubelet's ways the agent has: what counts nodes by version must be able to read it."""
_NAMES: Final = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


@dataclass(frozen=True, slots=True)
class NodeShape:
    """What a node is and has; what is not said is a simulated node's."""

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
    """Empty: made of the node's name."""
    boot_id: str = ""
    hands_out_addresses: bool = True
    """Whether its Pods have addresses of its own range."""

    def allocatable(self) -> dict[str, str]:
        """What there is for Pods."""
        return {
            "cpu": self.cpu,
            "ephemeral-storage": self.ephemeral_storage,
            "memory": self.memory,
            "pods": str(self.pods),
        }

    def labels(self, name: str) -> dict[str, str]:
        """What a node of this name says of itself."""
        return {
            "beta.kubernetes.io/arch": self.architecture,
            "beta.kubernetes.io/os": "linux",
            "kubernetes.io/arch": self.architecture,
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "sampan.dev/runtime": self.runtime,
        }


@dataclass(frozen=True, slots=True)
class NodeAddress:
    """Where a node, and the server that tells of its Pods, is to be found."""

    address: str
    port: int = 0
    """0: nobody serves."""


def host_ip(number: int) -> str:
    """The address of the node with this number, from 0."""
    number += 1
    return f"172.{16 + (number >> 16) % 16}.{(number >> 8) % 256}.{number % 256}"


def new_node(name: str, number: int, shape: NodeShape, *, where: NodeAddress, now: str) -> Object:
    """A Node as it registers itself."""
    spec: Object = {}
    if shape.hands_out_addresses:
        cidr = pod_cidr(number)
        spec = {"podCIDR": cidr, "podCIDRs": [cidr]}
    status = node_status(name, where, shape)
    status["conditions"] = conditions(now)
    metadata = {"name": name, "labels": shape.labels(name)}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def node_status(name: str, where: NodeAddress, shape: NodeShape) -> dict[str, Any]:
    """What does not change while the node lives."""
    amounts = shape.allocatable()
    identity = str(uuid.uuid5(_NAMES, name))
    status: dict[str, Any] = {
        "capacity": amounts,
        "allocatable": dict(amounts),
        "addresses": [{"type": "InternalIP", "address": where.address}, {"type": "Hostname", "address": name}],
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
    if where.port:
        status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": where.port}}
    return status


def conditions(now: str, before: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """The conditions of a node that is well; those that were so keep the time of their last change."""
    said = {
        "MemoryPressure": ("False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        "DiskPressure": ("False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        "PIDPressure": ("False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        "Ready": ("True", "KubeletReady", "kubelet is posting ready status"),
    }
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
        for name, (value, reason, message) in said.items()
    ]
