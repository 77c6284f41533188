"""Lists of a node's Pods: /pods and /runningpods/.

Source: kubelet pkg/kubelet/server/server.go `getPods`, `getRunningPods`; kuberuntime `GetPods` (1.36).
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from sampan.node.server.hosted import HostedPod


def pod_list(pods: Iterable[HostedPod]) -> bytes:
    """Return all Pods with all fields."""
    return _list(hosted.raw for hosted in pods)


def running_pod_list(pods: Iterable[HostedPod]) -> bytes:
    """Return the Pods with running containers, with the fields that their runtimes provide."""
    shown = ((hosted, _running(hosted)) for hosted in pods)
    return _list(msgspec.json.encode(_pod(hosted, containers)) for hosted, containers in shown if containers)


def _running(hosted: HostedPod) -> list[dict[str, Any]]:
    spec = hosted.pod.spec
    records = hosted.runtime.containers(hosted.pod.metadata.uid)
    running = {name for name, record in records.items() if record.is_running}
    return [
        {"name": each.name, "image": each.image, "resources": {}}
        for each in (*spec.init_containers, *spec.containers)
        if each.name in running
    ]


def _pod(hosted: HostedPod, containers: list[dict[str, Any]]) -> dict[str, Any]:
    metadata = hosted.pod.metadata
    named = {"name": metadata.name, "namespace": metadata.namespace, "uid": metadata.uid}
    return {"metadata": named, "spec": {"containers": containers}, "status": {}}


def _list(items: Iterable[bytes]) -> bytes:
    return b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[' + b",".join(items) + b"]}\n"
