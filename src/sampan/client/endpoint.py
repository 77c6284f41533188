"""`Endpoint`: one resource of one server, with the defaults of whoever asks; what all its clients share."""

from dataclasses import dataclass, field, replace

from sampan.client.options import WriteOptions
from sampan.client.patch import Patch
from sampan.client.rest_client import JSON, RESTClient, resource_path
from sampan.resource import ResourceInfo


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go and what they say unless told otherwise."""

    rest: RESTClient
    info: ResourceInfo
    namespace: str = ""
    pinned: bool = False
    """The namespace was asked for by name: objects that say another one are refused."""
    write_options: WriteOptions = field(default_factory=WriteOptions)
    accept: str = JSON
    list_accept: str = JSON

    def with_timeout(self, request_timeout_s: float) -> "Endpoint":
        """Return the same endpoint with another limit for the server's answers."""
        return replace(self, rest=self.rest.with_timeout(request_timeout_s))

    def path_of(self, name: str, subresource: str = "", *, namespace: str = "") -> str:
        """The path of an object. Raises `ValueError` without a name, or without a namespace where one is needed."""
        if not name:
            raise ValueError(f"which of the {self.info.gvr.group_resource}? The name is empty")
        segments = (name, subresource) if subresource else (name,)
        return resource_path(self.info, *segments, namespace=self._needed(namespace or self.namespace))

    def collection_path(self, namespace: str = "") -> str:
        """Where objects are created. Raises `ValueError` without a namespace where one is needed."""
        return resource_path(self.info, namespace=self._needed(namespace or self.namespace))

    def namespace_of(self, obj: object) -> str:
        """Where an object is at home: where it says, else here. Raises `ValueError` when that is not allowed."""
        own = names_of(obj)[0] if self.info.namespaced else ""
        if own and self.pinned and own != self.namespace:
            raise ValueError(f"the object is in namespace {own!r}, the client in {self.namespace!r}")
        return own or self.namespace

    async def send(self, method: str, path: str, body: bytes, *, options: WriteOptions) -> bytes:
        """A write of an object."""
        query = self.with_defaults(options).query()
        return await self.rest.call(method, path, query=query, body=body, headers={"accept": self.accept})

    async def patch(self, path: str, patch: Patch, *, options: WriteOptions) -> bytes:
        """A write of a patch."""
        headers = {"accept": self.accept, "content-type": patch.content_type}
        query = self.with_defaults(options).query()
        return await self.rest.call("PATCH", path, query=query, body=patch.body(), headers=headers)

    def with_defaults(self, options: WriteOptions) -> WriteOptions:
        """The options, where they say nothing, filled from the client's."""
        return replace(
            options,
            field_manager=options.field_manager or self.write_options.field_manager,
            field_validation=options.field_validation or self.write_options.field_validation,
            dry_run=options.dry_run or self.write_options.dry_run,
        )

    def _needed(self, namespace: str) -> str:
        if self.info.namespaced and not namespace:
            raise ValueError(f"{self.info.gvr.group_resource} live in namespaces: say in which (`in_namespace`)")
        return namespace


def names_of(obj: object) -> tuple[str, str]:
    """Namespace and name, empty where an object does not say them. The object is not touched."""
    if isinstance(obj, dict):
        fields = obj.get("metadata") or {}
        return fields.get("namespace") or "", fields.get("name") or ""
    metadata = getattr(obj, "metadata", None)
    return getattr(metadata, "namespace", None) or "", getattr(metadata, "name", None) or ""
