"""`Images`: has the images of containers, and waits longer each time that one cannot be had.

Source: kubernetes pkg/kubelet/images/image_manager.go (1.36).
"""

import asyncio
from dataclasses import dataclass
from typing import Final

from sampan.core.time import Clock
from sampan.node.node_events import NodeEvents
from sampan.node.pod_status import Waiting
from sampan.node.runtime import ImageError, Runtime
from sampan.node.views import Container, Pod

BACKOFF_FIRST_S: Final = 10.0
BACKOFF_MAX_S: Final = 300.0
ERROR_SHOWN_S: Final = 2.0
"""How long a container waits with ErrImagePull before it waits with ImagePullBackOff."""


@dataclass(slots=True)
class _Backoff:
    wait_s: float
    until: float
    """In seconds since 1970."""
    message: str
    shown_at: float
    """When ErrImagePull becomes ImagePullBackOff, in seconds since 1970."""


class Images:
    """The images of all Pods of this process."""

    def __init__(self, events: NodeEvents, clock: Clock, *, quiet: bool = False) -> None:
        """`quiet`: no events of images that are there at the first attempt."""
        self._quiet = quiet
        self._events = events
        self._clock = clock
        self._backoffs: dict[tuple[str, str], _Backoff] = {}

    async def ensure(self, runtime: Runtime, pod: Pod, container: Container) -> Waiting | None:
        """Have a container's image; what it waits for when that cannot be."""
        key = (pod.metadata.uid, container.image)
        waiting = self._backing_off(key, pod, container)
        if waiting is not None:
            return waiting
        pulls = container.image_pull_policy == "Always"
        if pulls and not self._quiet:
            self._events.normal(pod, "Pulling", f'Pulling image "{container.image}"', container.name)
        began = asyncio.get_running_loop().time()
        try:
            await runtime.ensure_image(pod, container)
        except ImageError as error:
            return self._failed(pod, container, error)
        if self._backoffs.pop(key, None) is None and self._quiet:
            return None
        if pulls:
            took = f"{round((asyncio.get_running_loop().time() - began) * 1000)}ms"
            text = f'Successfully pulled image "{container.image}" in {took} ({took} including waiting)'
        else:
            text = f'Container image "{container.image}" already present on machine'
        self._events.normal(pod, "Pulled", text, container.name)
        return None

    def wake_s(self, uid: str) -> float | None:
        """Return in how many seconds an image of the Pod is pulled again, or reported as backing off."""
        now = self._clock.now().timestamp()
        found = [each for key, each in self._backoffs.items() if key[0] == uid]
        times = (each.until if each.shown_at == 0.0 else each.shown_at for each in found)
        return min((max(0.1, at - now) for at in times), default=None)

    def forget(self, uid: str) -> None:
        """A Pod is gone."""
        for key in [key for key in self._backoffs if key[0] == uid]:
            del self._backoffs[key]

    def _backing_off(self, key: tuple[str, str], pod: Pod, container: Container) -> Waiting | None:
        backoff = self._backoffs.get(key)
        if backoff is None or self._clock.now().timestamp() >= backoff.until:
            return None
        backoff.shown_at = 0.0
        text = f'Back-off pulling image "{container.image}"'
        self._events.normal(pod, "BackOff", text, container.name)
        self._events.warning(pod, "Failed", "Error: ImagePullBackOff", container.name)
        return Waiting("ImagePullBackOff", f"{text}: {backoff.message}")

    def _failed(self, pod: Pod, container: Container, error: ImageError) -> Waiting:
        match error.reason:
            case "ErrImageNeverPull":
                text = str(error)
                self._events.warning(pod, "ErrImageNeverPull", text, container.name)
            case "InvalidImageName":
                text = str(error)
                self._events.warning(pod, "InspectFailed", text, container.name)
            case _:
                text = str(error)
                if container.image_pull_policy != "Always" or self._quiet:
                    self._events.normal(pod, "Pulling", f'Pulling image "{container.image}"', container.name)
                said = f'Failed to pull image "{container.image}": {error}'
                self._events.warning(pod, "Failed", said, container.name)
                self._wait_longer((pod.metadata.uid, container.image), f"{error.reason}: {error}")
        self._events.warning(pod, "Failed", f"Error: {error.reason}", container.name)
        return Waiting(error.reason, text)

    def _wait_longer(self, key: tuple[str, str], message: str) -> None:
        before = self._backoffs.get(key)
        wait_s = BACKOFF_FIRST_S if before is None else min(BACKOFF_MAX_S, before.wait_s * 2)
        now = self._clock.now().timestamp()
        self._backoffs[key] = _Backoff(wait_s, now + wait_s, message, shown_at=now + ERROR_SHOWN_S)


def is_unreachable(image: str) -> bool:
    """Whether the registry of an image cannot exist: its name begins with `invalid.` or ends with `.invalid`."""
    registry = image.partition("/")[0].partition(":")[0] if "/" in image else ""
    return registry.startswith("invalid.") or registry.endswith(".invalid")


def not_found(image: str) -> str:
    """Return containerd's message about an image that its registry does not have."""
    return (
        f'rpc error: code = NotFound desc = failed to pull and unpack image "{image}": '
        f'failed to resolve reference "{image}": {image}: not found'
    )
