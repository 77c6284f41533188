"""`Nominator`: nominated Pods by Node, while victims are evicted. Source: backend/queue/nominator.go (1.36)."""

from collections.abc import Collection, Iterator

from sampan.scheduler.pod_info import PodInfo


class Nominator:
    """Nominations; each Pod is nominated to at most one Node."""

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, PodInfo]] = {}
        self._nodes: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._nodes)

    def node_of(self, uid: str) -> str:
        """Return the Node a Pod is nominated to; empty if there is none."""
        return self._nodes.get(uid, "")

    def set(self, pod: PodInfo, node_name: str) -> None:
        """Nominate a Pod. An empty name removes its nomination."""
        # First, because a Pod is nominated to one Node only, and the new name may be empty.
        self.remove(pod.uid)
        if node_name:
            self._nodes[pod.uid] = node_name
            self._by_node.setdefault(node_name, {})[pod.uid] = pod

    def remove(self, uid: str) -> None:
        """Remove the nomination of a Pod that has a Node or no longer exists."""
        node_name = self._nodes.pop(uid, None)
        if node_name is not None:
            pods = self._by_node[node_name]
            del pods[uid]
            if not pods:
                del self._by_node[node_name]

    def on(self, node_name: str) -> Collection[PodInfo]:
        """Return the Pods nominated to a Node."""
        return self._by_node.get(node_name, {}).values()

    def nodes(self) -> Iterator[tuple[str, Collection[PodInfo]]]:
        """Yield all Nodes with nominated Pods."""
        for node_name, pods in self._by_node.items():
            yield node_name, pods.values()
