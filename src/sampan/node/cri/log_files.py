"""`LogFiles`: paths of the logs of a node's containers.

Source: kubelet pkg/kubelet/kuberuntime/helpers.go BuildPodLogsDirectory (1.36).
"""

from pathlib import Path

from sampan.node.cri.configuration.container import log_path
from sampan.node.cri.pods import CriPod
from sampan.node.views.pod import Pod


class LogFiles:
    """Paths below the directory of the logs of all Pods."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def of_pod(self, known: CriPod) -> Path:
        """Return the directory of a Pod's logs."""
        return self.root / f"{known.namespace}_{known.name}_{known.uid}"

    def of_container(self, pod: Pod, container: str) -> Path:
        """Return the directory of a container's logs."""
        metadata = pod.metadata
        return self.root / f"{metadata.namespace}_{metadata.name}_{metadata.uid}" / container

    def file(self, known: CriPod, container: str, restart_count: int) -> Path:
        """Return the log of one run of a container."""
        return self.of_pod(known) / log_path(container, restart_count)
