"""`ResourceEndpoint`: paths and request defaults of one resource of one server, shared by its clients."""

from dataclasses import dataclass, field, replace

from sampan.client.options import WriteOptions
from sampan.client.patch import Patch
from sampan.client.rest_client import JSON, RESTClient, resource_path
from sampan.resource import ResourceInfo


@dataclass(frozen=True, slots=True)
class ResourceEndpoint:
    """Paths and request defaults of one resource."""

    rest: RESTClient
    info: ResourceInfo
    namespace: str = ""
    pinned: bool = False
    """True if the caller chose the namespace. Objects of another namespace are then refused."""
    write_options: WriteOptions = field(default_factory=WriteOptions)
    accept: str = JSON
    list_accept: str = JSON

    def in_namespace(self, namespace: str) -> "ResourceEndpoint":
        """Return the endpoint for another namespace; "" selects all."""
        rest, info, defaults = self.rest, self.info, self.write_options
        # Each read of a reconciler passes here, and `replace` takes five times as long.
        return ResourceEndpoint(rest, info, namespace, bool(namespace), defaults, self.accept, self.list_accept)

    def with_timeout(self, request_timeout_s: float) -> "ResourceEndpoint":
        """Return the endpoint with another limit for responses."""
        return replace(self, rest=self.rest.with_timeout(request_timeout_s))

    def path_of(self, name: str, subresource: str = "", *, namespace: str = "") -> str:
        """Return the path of an object. Raises `ValueError` if the name is empty or a required namespace is missing."""
        if not name:
            raise ValueError(f"name of {self.info.gvr.group_resource} must not be empty")
        segments = (name, subresource) if subresource else (name,)
        return resource_path(self.info, *segments, namespace=self._require_namespace(namespace or self.namespace))

    def collection_path(self, namespace: str = "") -> str:
        """Return the path that lists and creates objects. Raises `ValueError` if a required namespace is missing."""
        return resource_path(self.info, namespace=self._require_namespace(namespace or self.namespace))

    def namespace_of(self, obj: object) -> str:
        """Return the object's namespace, by default that of the endpoint. Raises `ValueError` if it is not allowed."""
        own = names_of(obj)[0] if self.info.namespaced else ""
        if own and self.pinned and own != self.namespace:
            raise ValueError(f"the object's namespace {own!r} does not match the client's namespace {self.namespace!r}")
        return own or self.namespace

    async def send(self, method: str, path: str, body: bytes, *, options: WriteOptions) -> bytes:
        """Send an object and return the response body."""
        query = self.with_defaults(options).query()
        return await self.rest.call(method, path, query=query, body=body, headers={"accept": self.accept})

    async def patch(self, path: str, patch: Patch, *, options: WriteOptions) -> bytes:
        """Send a patch and return the response body."""
        headers = {"accept": self.accept, "content-type": patch.content_type}
        query = self.with_defaults(options).query()
        return await self.rest.call("PATCH", path, query=query, body=patch.body(), headers=headers)

    def with_defaults(self, options: WriteOptions) -> WriteOptions:
        """Return the options with the endpoint's defaults in place of unset values."""
        defaults = self.write_options
        return WriteOptions(
            field_manager=options.field_manager or defaults.field_manager,
            field_validation=options.field_validation or defaults.field_validation,
            dry_run=options.dry_run or defaults.dry_run,
            force=options.force,
        )

    def _require_namespace(self, namespace: str) -> str:
        if self.info.namespaced and not namespace:
            raise ValueError(f"{self.info.gvr.group_resource} are namespaced: choose a namespace with `in_namespace`")
        return namespace


def names_of(obj: object) -> tuple[str, str]:
    """Return namespace and name of an object, each empty if it is not set."""
    if isinstance(obj, dict):
        fields = obj.get("metadata") or {}
        return fields.get("namespace") or "", fields.get("name") or ""
    metadata = getattr(obj, "metadata", None)
    return getattr(metadata, "namespace", None) or "", getattr(metadata, "name", None) or ""
