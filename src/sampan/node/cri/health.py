"""`RuntimeHealth`: keeps the runtime's conditions, for the Node's conditions and for the log.

Source: kubelet pkg/kubelet/runtime.go, kubelet.go `updateRuntimeUp`, nodestatus/setters.go `ReadyCondition` (1.36).
"""

from __future__ import annotations

import asyncio
import logging
import re
from typing import Final

from sampan.kinds import core_v1
from sampan.node.cri.errors import CriError, RuntimeUnavailable
from sampan.node.cri.messages import AnyMessage

_log = logging.getLogger("sampan.node")
_HINTS: Final = {
    "cni plugin not initialized": "add a CNI configuration, or wait until the node has a pod CIDR",
}
_MOUNTS_IMAGES: Final = (2, 1)
"""First version of containerd that mounts images. Older ones ignore the field, and mount an empty directory."""


class RuntimeHealth:
    """Newest known state of a runtime. A waiting task is woken by each change."""

    def __init__(self, socket: str) -> None:
        """`socket`: path, for log lines."""
        self._socket = socket
        self.name = "cri"
        self.version = "cri://unknown"
        self.network_problem = "container runtime status check may not have completed yet"
        self._runtime_problem = self.network_problem
        self._changed = asyncio.Event()
        self._handlers: tuple[tuple[str, bool, bool], ...] = ()

    @property
    def handlers(self) -> list[core_v1.NodeRuntimeHandler]:
        """Handlers of the runtime, for the Node's `status.runtimeHandlers`; empty if the runtime does not name them."""
        return [
            {"name": name, "features": {"recursiveReadOnlyMounts": read_only, "userNamespaces": users}}
            for name, read_only, users in self._handlers
        ]

    def has_user_namespaces(self, handler: str) -> bool:
        """Return True if Pods of a handler may have their own user namespaces.

        Before containerd 2.0 there are no handlers.
        """
        return any(users for name, _, users in self._handlers if name == handler)

    @property
    def problem(self) -> str:
        """Message of the Node's condition Ready; empty for a node that is ready."""
        return ", ".join(dict.fromkeys(each for each in (self._runtime_problem, self.network_problem) if each))

    @property
    def mounts_images(self) -> bool:
        """False if the runtime cannot mount images as volumes, judging by its version: CRI does not report it."""
        found = re.match(r"containerd://v?(\d+)\.(\d+)", self.version)
        return found is None or (int(found[1]), int(found[2])) >= _MOUNTS_IMAGES

    async def changed(self) -> None:
        """Wait until a condition or the version of the runtime changes."""
        await self._changed.wait()
        self._changed.clear()

    def connected(self, version: AnyMessage) -> None:
        """Record the runtime's name and version, from the response of the first call."""
        self.name = version.runtime_name
        self.version = f"{version.runtime_name}://{version.runtime_version}"
        _log.info("connected to the container runtime", extra={"runtime": self.version, "socket": self._socket})

    def reported(self, response: AnyMessage) -> None:
        """Record the runtime's conditions, and the features of its handlers."""
        handlers = sorted(
            (each.name, each.features.recursive_read_only_mounts, each.features.user_namespaces)
            for each in response.runtime_handlers
        )
        if tuple(handlers) != self._handlers:
            self._handlers = tuple(handlers)
            self._changed.set()
        found = {each.type: each for each in response.status.conditions}
        runtime = found.get("RuntimeReady")
        network = found.get("NetworkReady")
        self._set(
            _shown("container runtime not ready", "RuntimeReady", runtime),
            _shown("container runtime network not ready", "NetworkReady", network),
        )

    def failed(self, error: CriError) -> None:
        """Record that the runtime does not respond."""
        down = "container runtime is down" if isinstance(error, RuntimeUnavailable) else str(error)
        self._set(down, self.network_problem, cause=str(error))

    def _set(self, runtime: str, network: str, *, cause: str = "") -> None:
        before = (self._runtime_problem, self.network_problem)
        if before == (runtime, network):
            return
        was = self.problem
        self._runtime_problem, self.network_problem = runtime, network
        now = self.problem
        self._changed.set()
        if not now:
            _log.info("container runtime is ready", extra={"socket": self._socket})
        elif now != was:
            hint = next((hint for text, hint in _HINTS.items() if text in now), "see the runtime's own log")
            _log.warning("container runtime is not ready: %s (%s); %s", now, cause or self._socket, hint)


def _shown(what: str, kind: str, condition: AnyMessage | None) -> str:
    if condition is None:
        return f"{what}: {kind} is not reported"
    if condition.status:
        return ""
    return f"{what}: {kind}=false reason:{condition.reason} message:{condition.message}"
