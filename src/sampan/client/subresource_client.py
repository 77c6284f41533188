"""`SubresourceClient`: `status`, `scale` and other subresources of objects."""

from typing import Generic, TypeVar

from sampan.client.objects.decoding import decoded
from sampan.client.options import WriteOptions
from sampan.client.patch import Patch
from sampan.client.resource_endpoint import ResourceEndpoint
from sampan.resource import ObjectType

T = TypeVar("T")


class SubresourceClient(Generic[T]):
    """Reads and writes one subresource of type `T`. All calls raise `ApiError`, `TransportError`."""

    def __init__(self, endpoint: ResourceEndpoint, subresource: str, object_type: ObjectType[T]) -> None:
        self._endpoint = endpoint
        self.subresource = subresource
        self.object_type = object_type

    async def get(self, name: str) -> T:
        """Return the subresource of an object."""
        path = self._endpoint.path_of(name, self.subresource)
        body = await self._endpoint.rest.call("GET", path, headers={"accept": self._endpoint.accept})
        return decoded(self.object_type, body)

    async def create(self, name: str, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """POST to a subresource that is an action: `token`, `binding`, `eviction`."""
        return await self._send("POST", name, obj, self.object_type.encode(obj), options)

    async def update(self, name: str, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Replace the subresource of an object. Raises `Conflict` if the object has changed since `obj` was read."""
        return await self._send("PUT", name, obj, self.object_type.encode_update(obj), options)

    async def patch(self, name: str, patch: Patch, options: WriteOptions = WriteOptions()) -> T:
        """Patch the subresource of an object."""
        path = self._endpoint.path_of(name, self.subresource)
        return decoded(self.object_type, await self._endpoint.patch(path, patch, options=options))

    async def _send(self, method: str, name: str, obj: T, body: bytes, options: WriteOptions) -> T:
        path = self._endpoint.path_of(name, self.subresource, namespace=self._endpoint.namespace_of(obj))
        return decoded(self.object_type, await self._endpoint.send(method, path, body, options=options))
