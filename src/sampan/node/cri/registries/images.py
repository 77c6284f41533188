"""`CriImages`: images of a runtime with CRI, from mirrors and with credentials.

Source: kubelet pkg/kubelet/kuberuntime/kuberuntime_image.go (1.36).
"""

from collections.abc import Awaitable, Callable

from sampan.node.cri.client import CriClient
from sampan.node.cri.errors import CriError
from sampan.node.cri.messages import AnyMessage
from sampan.node.cri.registries.configuration import Registries
from sampan.node.cri.registries.pull_secrets import Keyring
from sampan.node.cri.registries.pulls import Attempt, own, rewritten
from sampan.node.pods.image_name import check_image_name
from sampan.node.runtime import ImageError
from sampan.node.views.pod import Pod


class CriImages:
    """Finds and pulls the images of a node."""

    def __init__(
        self,
        client: CriClient,
        credentials: Keyring,
        registries: Callable[[], Awaitable[Registries]],
    ) -> None:
        """`registries` returns the mirrors and credentials of the node."""
        self._client = client
        self._credentials = credentials
        self._registries = registries

    async def find_image(self, pod: Pod, image: str) -> str:
        """Return the id of an image; empty if the runtime does not have it. Raises `ImageError`."""
        check_image_name(image)
        try:
            found = await self.image(image)
        except CriError as error:
            raise ImageError("ImageInspectError", f'Failed to inspect image "{image}": {error}') from error
        return "" if found is None else str(found.id)

    async def image(self, image: str) -> AnyMessage | None:
        """Return an image by its name, or by the name that it has at a mirror. Raises `CriError`."""
        found = await self._client.image_status(image)
        for attempt in () if found is not None else rewritten(await self._registries(), image):
            found = found or await self._client.image_status(attempt.reference)
        return found

    async def pull_image(self, pod: Pod, image: str) -> str:
        """Pull an image. Raises `ImageError`.

        First by its names at mirrors that have others, then by its own name: with the Pod's credentials, with those of
        the node, and without.
        """
        check_image_name(image)
        fault: CriError | None = None
        registries = await self._registries()
        secrets = [Attempt(image, auth) for auth in await self._credentials.of(pod, image)]
        of_node = own(registries, image, runtime=await self._runtime_name()) if registries.configs else ()
        attempts = [*rewritten(registries, image), *secrets, *of_node, Attempt(image, None)]
        for reference, auth in attempts:
            try:
                return await self._client.pull_image(reference, auth=auth)
            except CriError as error:
                fault = fault or error
        raise ImageError("ErrImagePull", str(fault)) from fault

    async def _runtime_name(self) -> str:
        """Return the name of the runtime; empty if it does not respond."""
        try:
            return str((await self._client.version()).runtime_name)
        except CriError:
            return ""
