"""What the server of a node knows of the Pods of its process."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sampan.node.runtime import Runtime
from sampan.node.views import Pod

FindPod = Callable[[str, str], tuple[Pod, Runtime] | None]
"""Of namespace and name."""


@dataclass(frozen=True, slots=True)
class HostedPod:
    """A Pod and where it runs."""

    pod: Pod
    runtime: Runtime
    raw: bytes = b"{}"
    """The whole object, as JSON."""


ListPods = Callable[[], Iterable[HostedPod]]
