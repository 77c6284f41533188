"""`ImageManager`: applies the pull policy of containers, and backs off after failed pulls.

Source: kubernetes pkg/kubelet/images/image_manager.go (1.36).
"""

import asyncio
from dataclasses import dataclass
from typing import Final

from sampan.core.time import Clock
from sampan.node.node_events import NodeEvents
from sampan.node.pods.status import WaitingReason
from sampan.node.runtime import ImageError, ImageRuntime
from sampan.node.views.container import Container
from sampan.node.views.pod import Pod

BACKOFF_FIRST_S: Final = 10.0
BACKOFF_MAX_S: Final = 300.0
ERROR_SHOWN_S: Final = 2.0
"""Time for which the status shows ErrImagePull before it shows ImagePullBackOff."""


@dataclass(slots=True)
class _Backoff:
    wait_s: float
    until: float
    """In seconds since 1970."""
    message: str
    shown_at: float
    """Time at which ErrImagePull becomes ImagePullBackOff, in seconds since 1970; 0 after that."""


class ImageManager:
    """Images of all Pods of this process."""

    def __init__(self, events: NodeEvents, clock: Clock, *, failures_only: bool = False) -> None:
        """`failures_only`: report only images that cannot be pulled, and their later success."""
        self._failures_only = failures_only
        self._events = events
        self._clock = clock
        self._backoffs: dict[tuple[str, str], _Backoff] = {}

    async def ensure(self, runtime: ImageRuntime, pod: Pod, container: Container) -> WaitingReason | None:
        """Find or pull a container's image. Returns the state of a container that has to wait for it."""
        key = (pod.metadata.uid, container.image)
        waiting = self._backing_off(key, pod, container)
        if waiting is not None:
            return waiting
        began = asyncio.get_running_loop().time()
        try:
            pulled = await self._find_or_pull(runtime, pod, container)
        except ImageError as error:
            return self._failed(pod, container, error)
        # A success after failures is reported even then, or the last event would remain a failure.
        if self._backoffs.pop(key, None) is None and self._failures_only:
            return None
        if pulled:
            took = f"{round((asyncio.get_running_loop().time() - began) * 1000)}ms"
            text = f'Successfully pulled image "{container.image}" in {took} ({took} including waiting)'
        else:
            text = f'Container image "{container.image}" already present on machine'
        self._events.normal(pod, "Pulled", text, container.name)
        return None

    def wake_s(self, uid: str) -> float | None:
        """Return the number of seconds until an image of the Pod is pulled again, or is reported as
        ImagePullBackOff.
        """
        now = self._clock.now().timestamp()
        found = [each for key, each in self._backoffs.items() if key[0] == uid]
        times = (each.until if each.shown_at == 0.0 else each.shown_at for each in found)
        return min((max(0.1, at - now) for at in times), default=None)

    def forget(self, uid: str) -> None:
        """Remove the backoffs of a Pod that no longer exists."""
        for key in [key for key in self._backoffs if key[0] == uid]:
            del self._backoffs[key]

    async def _find_or_pull(self, runtime: ImageRuntime, pod: Pod, container: Container) -> bool:
        """Return whether the image was pulled. Raises `ImageError`."""
        image, policy = container.image, container.image_pull_policy
        if policy != "Always":
            if await runtime.find_image(pod, image):
                return False
            if policy == "Never":
                message = f'Container image "{image}" is not present with pull policy of Never'
                raise ImageError("ErrImageNeverPull", message)
        if not self._failures_only:
            self._pulling(pod, container)
        await runtime.pull_image(pod, image)
        return True

    def _backing_off(self, key: tuple[str, str], pod: Pod, container: Container) -> WaitingReason | None:
        backoff = self._backoffs.get(key)
        if backoff is None or self._clock.now().timestamp() >= backoff.until:
            return None
        # From now on the status shows ImagePullBackOff, so no wake-up is needed for the change.
        backoff.shown_at = 0.0
        text = f'Back-off pulling image "{container.image}"'
        self._events.normal(pod, "BackOff", text, container.name)
        self._events.warning(pod, "Failed", "Error: ImagePullBackOff", container.name)
        return WaitingReason("ImagePullBackOff", f"{text}: {backoff.message}")

    def _pulling(self, pod: Pod, container: Container) -> None:
        self._events.normal(pod, "Pulling", f'Pulling image "{container.image}"', container.name)

    def _failed(self, pod: Pod, container: Container, error: ImageError) -> WaitingReason:
        text = str(error)
        match error.reason:
            case "ErrImageNeverPull":
                self._events.warning(pod, "ErrImageNeverPull", text, container.name)
            case "InvalidImageName":
                self._events.warning(pod, "InspectFailed", text, container.name)
            case _:
                if self._failures_only:
                    self._pulling(pod, container)
                self._events.warning(
                    pod, "Failed", f'Failed to pull image "{container.image}": {error}', container.name
                )
                self._wait_longer((pod.metadata.uid, container.image), f"{error.reason}: {error}")
        self._events.warning(pod, "Failed", f"Error: {error.reason}", container.name)
        return WaitingReason(error.reason, text)

    def _wait_longer(self, key: tuple[str, str], message: str) -> None:
        before = self._backoffs.get(key)
        wait_s = BACKOFF_FIRST_S if before is None else min(BACKOFF_MAX_S, before.wait_s * 2)
        now = self._clock.now().timestamp()
        self._backoffs[key] = _Backoff(wait_s, now + wait_s, message, shown_at=now + ERROR_SHOWN_S)


def is_unreachable(image: str) -> bool:
    """Return whether no registry can have an image: its registry starts with `invalid.` or ends with `.invalid`."""
    registry = image.partition("/")[0].partition(":")[0] if "/" in image else ""
    return registry.startswith("invalid.") or registry.endswith(".invalid")


def not_found(image: str) -> str:
    """Return containerd's message for an image that its registry does not have."""
    return (
        f'rpc error: code = NotFound desc = failed to pull and unpack image "{image}": '
        f'failed to resolve reference "{image}": {image}: not found'
    )
