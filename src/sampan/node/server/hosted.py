"""Pods of this process, in the form that the node's server uses."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sampan.node.runtime import Runtime
from sampan.node.views.pod import Pod

FindPod = Callable[[str, str], tuple[Pod, Runtime] | None]
"""Returns a Pod and its runtime by namespace and name."""


@dataclass(frozen=True, slots=True)
class HostedPod:
    """Pod and its runtime."""

    pod: Pod
    runtime: Runtime
    raw: bytes = b"{}"
    """Whole object as JSON."""


ListPods = Callable[[], Iterable[HostedPod]]
