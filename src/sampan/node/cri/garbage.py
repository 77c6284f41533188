"""`CriGarbage`: gives the garbage collector access to the images and dead containers of a runtime with CRI.

It removes only Pods that this agent has created.
Source: kubelet pkg/kubelet/kuberuntime/{kuberuntime_gc.go,kuberuntime_image.go} (1.36).
"""

import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence, Set

from sampan.node.cri.client import CriClient
from sampan.node.cri.configuration.container import CONTAINER_NAME
from sampan.node.cri.configuration.sandbox import POD_UID
from sampan.node.cri.errors import CriError
from sampan.node.cri.messages import AnyMessage, value
from sampan.node.cri.runtime import CriRuntime
from sampan.node.eviction.meter import disk_of
from sampan.node.garbage.containers import (
    ContainerInStore,
    SandboxInStore,
    dead_containers,
    dead_sandboxes,
)
from sampan.node.garbage.images import Disk, ImageInStore


class CriGarbage:
    """Implements `Garbage`."""

    def __init__(
        self,
        client: CriClient,
        runtime: CriRuntime,
        *,
        desired: Callable[[], Awaitable[Set[str] | None]],
        ended: Callable[[str], bool],
    ) -> None:
        """`desired` returns the uids of the node's Pods; None while they are unknown.

        `ended` returns True for the uid of a Pod in its last phase.
        """
        self._client = client
        self._runtime = runtime
        self._desired = desired
        self._ended = ended
        self._mountpoint = ""
        self._own_image: str | None = None

    # ---- containers

    async def remove_dead(self, *, of_ended_pods: bool = False) -> None:
        """Remove dead containers and sandboxes, and everything of Pods that the API server no longer has."""
        try:
            desired = await self._desired()
            if desired is None:
                return
            # Whole Pods first: this removes their containers and sandboxes at once.
            for uid in self._runtime.own_pods() - desired:
                await self._runtime.remove_sandbox(uid)
            await self._runtime.drop_directories(desired)
            own = self._runtime.own_pods()
            ended = self._ended if of_ended_pods else _never
            containers = [each for each in await self._containers() if each.uid in own]
            for container in dead_containers(containers, ended):
                await self._runtime.remove_dead_container(container.uid, container.id)
            # Again, because a sandbox can be removed only when the containers removed above are gone from it.
            containers = await self._containers()
            sandboxes = [each for each in await self._sandboxes() if each.uid in own]
            for sandbox in dead_sandboxes(sandboxes, containers, ended):
                await self._runtime.remove_dead_sandbox(sandbox.uid, sandbox.id)
        except CriError as error:
            raise OSError(str(error)) from error

    async def _containers(self) -> list[ContainerInStore]:
        exited = (value("CONTAINER_EXITED"), value("CONTAINER_UNKNOWN"))
        return [
            ContainerInStore(
                each.id,
                each.labels.get(POD_UID, ""),
                each.labels.get(CONTAINER_NAME, each.metadata.name),
                each.pod_sandbox_id,
                each.created_at,
                each.state in exited,
            )
            for each in await self._client.list_containers()
        ]

    async def _sandboxes(self) -> list[SandboxInStore]:
        ready = value("SANDBOX_READY")
        return [
            SandboxInStore(each.id, each.labels.get(POD_UID, each.metadata.uid), each.created_at, each.state == ready)
            for each in await self._client.list_pod_sandboxes()
        ]

    # ---- images

    async def images(self) -> Sequence[ImageInStore]:
        """Return the images in the runtime's store. Raises `OSError` if the runtime fails."""
        try:
            return [image_in_store(each) for each in await self._client.list_images()]
        except CriError as error:
            raise OSError(str(error)) from error

    async def used_images(self) -> Collection[str]:
        """Return ids and names of the images of all containers, of any agent, and of the sandboxes' image."""
        try:
            if self._own_image is None:
                self._own_image = sandbox_image(await self._client.status_info())
            containers = await self._client.list_containers()
        except CriError as error:
            raise OSError(str(error)) from error
        # Without the image of the sandboxes, the next Pod could not start on a node without a registry.
        return {self._own_image} | set(_names(containers))

    async def image_disk(self) -> Disk:
        """Return the size and the free space of the runtime's image file system."""
        try:
            if not self._mountpoint:
                self._mountpoint = await self._client.image_mountpoint()
        except CriError as error:
            raise OSError(str(error)) from error
        return disk_of(self._mountpoint)

    async def remove_image(self, id: str) -> None:
        """Remove an image from the runtime, by its ID."""
        try:
            await self._client.remove_image(id)
        except CriError as error:
            raise OSError(str(error)) from error


def image_in_store(image: AnyMessage) -> ImageInStore:
    """Convert CRI's Image."""
    return ImageInStore(image.id, [*image.repo_digests, *image.repo_tags], image.size, image.pinned)


def sandbox_image(info: dict[str, str]) -> str:
    """Return the image of the sandboxes, which containerd before 1.7 does not pin; empty if it is unknown.

    `info`: the runtime's own description, in which `config` is containerd's.
    """
    try:
        found = json.loads(info.get("config", "{}")).get("sandboxImage", "")
    except (ValueError, AttributeError):
        return ""
    return str(found)


def _names(containers: Iterable[AnyMessage]) -> Iterable[str]:
    for each in containers:
        yield from (name for name in (each.image_ref, each.image.image, each.image_id) if name)


def _never(uid: str) -> bool:
    return False
