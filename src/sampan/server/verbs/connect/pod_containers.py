"""Pods and containers, for subresources that a kubelet serves.

Source: kubernetes pkg/registry/core/pod/strategy.go validateContainer (1.36).
"""

from collections.abc import Iterator

from sampan.core import errors
from sampan.core.errors import Reason, StatusError
from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.server.verbs.scope import RequestScope

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


async def pod_of(scope: RequestScope, name: str) -> Object:
    """Return the current Pod of a request. Raises `StatusError` 404."""
    namespace = scope.ctx.namespace
    pod = await scope.cluster.reader.find("", "pods", namespace, name) if namespace and name else None
    if pod is None:
        raise errors.not_found(GroupResource("", "pods"), name)
    return pod


def container_of(pod: Object, name: str) -> str:
    """Return the requested container, or the only one if the name is empty. Raises `StatusError` 400."""
    spec, pod_name = pod.get("spec") or {}, pod["metadata"]["name"]
    if name:
        if name not in _names(spec):
            raise errors.bad_request(f"container {name} is not valid for pod {pod_name}")
        return name
    containers = spec.get("containers") or []
    if len(containers) == 1:
        only: str = containers[0]["name"]
        return only
    text = f"a container name must be specified for pod {pod_name}"
    if containers:
        text += f", choose one of: [{' '.join(_names(spec))}]"
    raise errors.bad_request(text)


def node_of(pod: Object) -> str:
    """Return the node of the Pod. Empty: not scheduled yet."""
    name: str = (pod.get("spec") or {}).get("nodeName") or ""
    return name


def kubelet_failure(text: str) -> StatusError:
    """Return the error for clients of exec and similar requests if the kubelet cannot be reached."""
    return StatusError(Reason.UNKNOWN, 500, f"error dialing backend: {text}")


def _names(spec: Object) -> Iterator[str]:
    for field in _CONTAINERS:
        for container in spec.get(field) or ():
            yield container["name"]
