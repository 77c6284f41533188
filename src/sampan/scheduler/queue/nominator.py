"""`Nominator`: the Pods for which room is being made, by Node. Source: backend/queue/nominator.go (1.36)."""

from collections.abc import Collection, Iterator

from sampan.scheduler.pod_info import PodInfo


class Nominator:
    """Each Pod is nominated to one Node at most."""

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, PodInfo]] = {}
        self._nodes: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._nodes)

    def node_of(self, uid: str) -> str:
        """Where a Pod is to go; empty when it is not nominated."""
        return self._nodes.get(uid, "")

    def set(self, pod: PodInfo, node_name: str) -> None:
        """Nominate a Pod; with an empty name take its nomination back."""
        self.remove(pod.uid)
        if node_name:
            self._nodes[pod.uid] = node_name
            self._by_node.setdefault(node_name, {})[pod.uid] = pod

    def remove(self, uid: str) -> None:
        """The Pod has a Node, or is gone."""
        node_name = self._nodes.pop(uid, None)
        if node_name is not None:
            pods = self._by_node[node_name]
            del pods[uid]
            if not pods:
                del self._by_node[node_name]

    def on(self, node_name: str) -> Collection[PodInfo]:
        """The Pods that are nominated to a Node."""
        return self._by_node.get(node_name, {}).values()

    def nodes(self) -> Iterator[tuple[str, Collection[PodInfo]]]:
        """All Nodes with such Pods."""
        for node_name, pods in self._by_node.items():
            yield node_name, pods.values()
