"""The Node objects of simulated nodes.

Source: kubelet pkg/kubelet/kubelet_node_status.go, pkg/kubelet/nodestatus/setters.go (1.36).
"""

import uuid
from dataclasses import dataclass
from typing import Any, Final

from sampan.node.addresses import pod_cidr
from sampan.resource import Object

KUBELET_VERSION: Final = "v1.36.0"
"""Which kubelet's ways the agent has: what counts nodes by version must be able to read it."""
_NAMES: Final = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


@dataclass(frozen=True, slots=True)
class NodeShape:
    """What a simulated node has."""

    cpu: str = "8"
    memory: str = "32Gi"
    pods: int = 110
    ephemeral_storage: str = "100Gi"
    architecture: str = "amd64"


def host_ip(number: int) -> str:
    """The address of the node with this number, from 0."""
    number += 1
    return f"172.{16 + (number >> 16) % 16}.{(number >> 8) % 256}.{number % 256}"


def new_node(name: str, number: int, shape: NodeShape, *, runtime_version: str, now: str) -> Object:
    """A Node as it registers itself."""
    labels = {
        "beta.kubernetes.io/arch": shape.architecture,
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": shape.architecture,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "sampan.dev/runtime": "simulated",
    }
    cidr = pod_cidr(number)
    spec = {"podCIDR": cidr, "podCIDRs": [cidr]}
    status = node_status(name, host_ip(number), shape, runtime_version=runtime_version)
    status["conditions"] = conditions(now)
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def node_status(name: str, address: str, shape: NodeShape, *, runtime_version: str) -> dict[str, Any]:
    """What does not change while the node lives."""
    amounts = {
        "cpu": shape.cpu,
        "ephemeral-storage": shape.ephemeral_storage,
        "memory": shape.memory,
        "pods": str(shape.pods),
    }
    identity = str(uuid.uuid5(_NAMES, name))
    return {
        "capacity": amounts,
        "allocatable": dict(amounts),
        "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
        "nodeInfo": {
            "machineID": identity.replace("-", ""),
            "systemUUID": identity,
            "bootID": identity,
            "kernelVersion": "simulated",
            "osImage": "Sampan simulated node",
            "containerRuntimeVersion": runtime_version,
            "kubeletVersion": KUBELET_VERSION,
            "kubeProxyVersion": "",
            "operatingSystem": "linux",
            "architecture": shape.architecture,
        },
    }


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
