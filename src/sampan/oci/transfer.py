"""Images of a registry as a base, and pushes of whole images."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from sampan.oci.blob_store import BlobStore
from sampan.oci.descriptor import Descriptor
from sampan.oci.errors import OciError
from sampan.oci.image import blobs_of, manifests_of
from sampan.oci.reference import Reference
from sampan.oci.registry import Registry

_PARALLEL: Final = 4
"""Number of blobs that are pushed at a time."""


class RegistrySource:
    """Image in a registry."""

    def __init__(self, registry: Registry, reference: Reference) -> None:
        self._registry, self._reference = registry, reference

    async def root(self) -> tuple[Descriptor, bytes]:
        """Return the image's manifest or index. Raises `OciError`."""
        return await self._registry.manifest(self._reference)

    async def manifest(self, descriptor: Descriptor) -> bytes:
        """Return a manifest. Raises `OciError`."""
        _, content = await self._registry.manifest(self._reference.at(descriptor.digest))
        return content

    async def fetch(self, descriptor: Descriptor, store: BlobStore) -> None:
        """Copy a blob into a store. Raises `OciError`."""
        await self._registry.fetch(self._reference, descriptor, store)


@dataclass(frozen=True, slots=True)
class Pushed:
    """Result of a push. `sent_bytes`: size of the blobs that the registry did not have."""

    digest: str
    sent_bytes: int


async def push(
    registry: Registry,
    reference: Reference,
    root: Descriptor,
    store: BlobStore,
    *,
    mount_from: str = "",
    fetch: Callable[[Descriptor], Awaitable[None]] | None = None,
) -> Pushed:
    """Push an image with all its platforms, and tag it last. Raises `OciError`.

    `mount_from`: repository of the same registry that may have the layers of the base. `fetch` puts a blob into the
    store; it is called for blobs that the registry neither has nor can mount.
    """
    limit = asyncio.Semaphore(_PARALLEL)

    async def push_one(blob: Descriptor) -> int:
        async with limit:
            is_sent = await registry.push_blob(reference, blob, store, mount_from=mount_from, fetch=fetch)
        return blob.size if is_sent else 0

    manifests = manifests_of(store, root)
    blobs = {blob.digest: blob for manifest in manifests for blob in blobs_of(store, manifest)}
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(push_one(blob)) for blob in blobs.values()]
    except* OciError as errors:
        raise first_of(errors) from None
    sent = sum(task.result() for task in tasks)
    for manifest in manifests:
        if manifest.digest != root.digest:
            by_digest = Reference(reference.host, reference.repository, digest=manifest.digest)
            await registry.push_manifest(by_digest, store.read(manifest.digest), manifest.media_type)
    digest = await registry.push_manifest(reference, store.read(root.digest), root.media_type)
    return Pushed(digest, sent)


def first_of(errors: BaseExceptionGroup[OciError]) -> OciError:
    """Return the first error of a group."""
    found = errors.exceptions[0]
    return first_of(found) if isinstance(found, BaseExceptionGroup) else found
