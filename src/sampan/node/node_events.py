"""`NodeEvents`: records events about Pods and their containers, with the kubelet as their source."""

from collections.abc import Mapping

from sampan.core.time import Clock
from sampan.node.views.pod import Pod
from sampan.operator.events import EventBroadcaster, EventRecorder
from sampan.operator.events.event import ObjectReference

COMPONENT = "kubelet"


class NodeEvents:
    """Recorder for all nodes of this process. The Pod's node is the host of an event."""

    def __init__(self, broadcaster: EventBroadcaster, clock: Clock) -> None:
        self._broadcaster = broadcaster
        self._clock = clock
        self._recorders: dict[str, EventRecorder] = {}

    def normal(self, pod: Pod, reason: str, note: str, container: str = "") -> None:
        """Record a Normal event about a Pod, or about one of its containers."""
        self._recorder(pod.spec.node_name).normal(_reference(pod, container), reason, note)

    def warning(
        self, pod: Pod, reason: str, note: str, container: str = "", annotations: Mapping[str, str] | None = None
    ) -> None:
        """Record a Warning event. `annotations`: annotations of the Event object."""
        self._recorder(pod.spec.node_name).warning(_reference(pod, container), reason, note, annotations=annotations)

    def node_warning(self, node: str, reason: str, note: str) -> None:
        """Record a Warning event about a node.

        As in events of the kubelet, the reference to the Node has the name in place of the uid.
        """
        self._recorder(node).warning(ObjectReference("v1", "Node", "", node, node), reason, note)

    def _recorder(self, node: str) -> EventRecorder:
        recorder = self._recorders.get(node)
        if recorder is None:
            recorder = self._recorders[node] = EventRecorder(self._broadcaster, COMPONENT, node, self._clock, host=node)
        return recorder


def _reference(pod: Pod, container: str) -> ObjectReference:
    metadata = pod.metadata
    return ObjectReference(
        "v1", "Pod", metadata.namespace, metadata.name, metadata.uid, metadata.resource_version, _path(pod, container)
    )


def _path(pod: Pod, container: str) -> str:
    if not container:
        return ""
    if any(each.name == container for each in pod.spec.init_containers):
        return f"spec.initContainers{{{container}}}"
    if any(each.name == container for each in pod.spec.ephemeral_containers):
        return f"spec.ephemeralContainers{{{container}}}"
    return f"spec.containers{{{container}}}"
