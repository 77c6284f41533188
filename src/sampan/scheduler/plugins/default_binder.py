"""DefaultBinder: binds Pods to Nodes. Source: plugins/defaultbinder/default_binder.go (1.36)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sampan.client.client import Client
from sampan.component_base.resources import PODS
from sampan.kinds import core_v1, meta_v1
from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.framework.plugin import ClusterEvent, Hint
from sampan.scheduler.pod_info import PodInfo


class DefaultBinder:
    """Creates `pods/binding`."""

    name: ClassVar[str] = "DefaultBinder"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {}

    def __init__(self, client: Client) -> None:
        self._client = client

    async def bind(self, cycle: Cycle, pod: PodInfo) -> bool:
        """Bind a Pod. Raises `Conflict` if the Pod has a Node already, `NotFound`."""
        metadata: meta_v1.ObjectMeta = {"namespace": pod.namespace, "name": pod.name, "uid": pod.uid}
        target: core_v1.ObjectReference = {"kind": "Node", "name": pod.node_name}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
        pods = self._client.resource(PODS, namespace=pod.namespace)
        await pods.subresource("binding").create(pod.name, binding)
        return True
