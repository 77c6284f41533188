"""Pods and Nodes for the tests, as dicts and as the scheduler's types."""

from typing import Any

from sampan.resource import Object
from sampan.scheduler.pod_info import PodInfo, read_pod
from sampan.scheduler.views import Node, decode_node
from sampan.wire import json


def node_object(name: str, *, cpu: str = "4", memory: str = "8Gi", pods: int = 110, **more: Any) -> Object:
    """A Node; `more` are labels, taints, unschedulable, allocatable, images."""
    allocatable = {"cpu": cpu, "memory": memory, "pods": str(pods), **more.get("allocatable", {})}
    spec = {name: more[name] for name in ("taints", "unschedulable") if name in more}
    status: Object = {"allocatable": allocatable, "capacity": allocatable}
    if "images" in more:
        status["images"] = [{"names": [image], "sizeBytes": size} for image, size in more["images"].items()]
    labels = {"kubernetes.io/hostname": name, **more.get("labels", {})}
    return {"metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def pod_object(name: str, *, requests: dict[str, str] | None = None, **more: Any) -> Object:
    """A Pod; `more` are fields of its spec, and labels, namespace, status, owner."""
    container: Object = {"name": "main", "image": more.pop("image", "registry.example.com/app:1")}
    if requests:
        container["resources"] = {"requests": requests}
    if "ports" in more:
        container["ports"] = more.pop("ports")
    metadata: Object = {"name": name, "namespace": more.pop("namespace", "default"), "labels": more.pop("labels", {})}
    if "owner" in more:
        metadata["ownerReferences"] = [more.pop("owner")]
    status = more.pop("status", {})
    # Without a node agent, only a grace period of zero ends a Pod.
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0, **more}
    return {"metadata": metadata, "spec": spec, "status": status}


def node(name: str, **more: Any) -> Node:
    """A Node in the scheduler's type."""
    return decode_node(json.encode(node_object(name, **more)))


def pod(name: str, *, on: str = "", **more: Any) -> PodInfo:
    """A `PodInfo`, with or without a Node; its UID is its name."""
    obj = pod_object(name, **more)
    obj["metadata"]["uid"] = name
    if on:
        obj["spec"]["nodeName"] = on
    return read_pod(json.encode(obj))
