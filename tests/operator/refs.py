"""Records of objects, as in the events of informers."""

from typing import Any

from sampan.core.gvk import GroupVersionResource
from sampan.informer.ref import Ref, RefReader
from sampan.resource import Object, ResourceInfo, dynamic
from sampan.wire import json

NETWORKS = ResourceInfo(GroupVersionResource("net.example.com", "v1", "networks"), "Network", namespaced=True)
PODS = ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", namespaced=True)
NODES = ResourceInfo(GroupVersionResource("", "v1", "nodes"), "Node", namespaced=False)


def ref(
    name: str = "a", *, version: int = 1, uid: str = "u1", spec: Any = None, status: Any = None, **metadata: Any
) -> Ref[Object]:
    """A record of a network in the namespace `default`."""
    meta = {"name": name, "namespace": "default", "uid": uid, "resourceVersion": str(version), **metadata}
    body = {"apiVersion": "net.example.com/v1", "kind": "Network", "metadata": meta, "spec": spec or {}}
    if status is not None:
        body["status"] = status
    return RefReader(dynamic(NETWORKS)).read(json.encode(body))
