"""`ResourceClient`: typed reads and writes of one resource."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar

from sampan.client.apply_diff import ApplyDiff
from sampan.client.errors import NotFound, Undecodable
from sampan.client.objects.decoding import decoded, decoded_all
from sampan.client.objects.head import object_head
from sampan.client.objects.object_list import ObjectList
from sampan.client.objects.partial_metadata import ACCEPT, ACCEPT_LIST, PartialObjectMetadata, partial_metadata
from sampan.client.objects.scale import Scale, scale_of
from sampan.client.options import DeleteOptions, ListOptions, WriteOptions
from sampan.client.patch import ApplyPatch, Patch
from sampan.client.resource_endpoint import ResourceEndpoint, names_of
from sampan.client.subresource_client import SubresourceClient
from sampan.client.watching.follow import WATCH_BACKOFF, follow
from sampan.client.watching.pager import PAGE_SIZE, list_all, list_pages
from sampan.client.watching.resource_list_watch import ResourceListWatch
from sampan.client.watching.watch import WatchEvent, decoded_events, one_by_one
from sampan.resource import Object, ObjectType, ResourceInfo, dynamic
from sampan.wire import json

T = TypeVar("T")

_DIFF_TRIES: Final = 4


class ResourceClient(Generic[T]):
    """Reads and writes the objects of one resource, in one namespace or (if it is empty) in all.

    `T` is a declared class, or `Object` (a dict) for any resource. Objects passed in are never changed; returned
    objects belong to the caller.

    All calls raise `ApiError` and its subclasses, and `TransportError`. They raise `Undecodable` if the response does
    not fit `T`, and `ValueError` for invalid arguments (no name, no namespace). A cancelled write may or may not have
    happened.
    """

    def __init__(self, endpoint: ResourceEndpoint, object_type: ObjectType[T]) -> None:
        self._endpoint = endpoint
        self.object_type = object_type

    @property
    def info(self) -> ResourceInfo:
        """Group, version and resource of the objects, their kind, and whether they have namespaces."""
        return self.object_type.info

    @property
    def namespace(self) -> str:
        """Namespace of the objects; empty: all, or the resource has no namespaces."""
        return self._endpoint.namespace

    def in_namespace(self, namespace: str) -> "ResourceClient[T]":
        """Return a client for another namespace; "" selects all."""
        return ResourceClient(self._endpoint.in_namespace(namespace), self.object_type)

    def with_timeout(self, request_timeout_s: float) -> "ResourceClient[T]":
        """Return a client with another limit for responses: `await pods.with_timeout(120).create(pod)`.

        `math.inf` means no limit.
        """
        return ResourceClient(self._endpoint.with_timeout(request_timeout_s), self.object_type)

    def metadata_only(self) -> "ResourceClient[PartialObjectMetadata]":
        """Return a client that transfers only the metadata of the objects. It can read, watch, patch and delete."""
        endpoint = replace(self._endpoint, accept=ACCEPT, list_accept=ACCEPT_LIST)
        return ResourceClient(endpoint, partial_metadata(self.object_type.info))

    # Reading

    async def get(self, name: str, *, resource_version: str | None = None) -> T:
        """Return one object; with `resource_version="0"` from the server's cache. Raises `NotFound`."""
        query = {} if resource_version is None else {"resourceVersion": resource_version}
        path = self._endpoint.path_of(name)
        body = await self._endpoint.rest.call("GET", path, query=query, headers={"accept": self._endpoint.accept})
        return decoded(self.object_type, body)

    async def list(self, options: ListOptions = ListOptions()) -> ObjectList[T]:
        """Return one page: all objects unless `options.limit` is set. Raises `Expired` for an old continue token."""
        page = await self.list_watch().list(options)
        items = await decoded_all(self.object_type, page.items)
        return ObjectList(items, page.resource_version, page.continue_token, page.remaining)

    async def list_all(self, options: ListOptions = ListOptions(), *, page_size: int = PAGE_SIZE) -> ObjectList[T]:
        """Return all objects at one revision, read in pages to limit the server's load. `watch` can start from it."""
        found = await list_all(self.list_watch().list, options, page_size=page_size)
        return ObjectList(await decoded_all(self.object_type, found.items), found.resource_version)

    def items(self, options: ListOptions = ListOptions(), *, page_size: int = PAGE_SIZE) -> AsyncGenerator[T, None]:
        """Yield all objects one by one, with one page in memory at a time.

        Objects that exist during the whole call are yielded exactly once. All are of one revision unless it expires in
        between.
        """
        return one_by_one(self.pages(options, page_size=page_size))

    async def pages(
        self, options: ListOptions = ListOptions(), *, page_size: int = PAGE_SIZE
    ) -> AsyncGenerator[Sequence[T], None]:
        """Yield all objects as `items` does, a page at a time."""
        async for page in list_pages(self.list_watch().list, options, page_size=page_size):
            yield await decoded_all(self.object_type, page.items)

    def watch(self, options: ListOptions = ListOptions()) -> AsyncGenerator[WatchEvent[T], None]:
        """Yield the events of one watch, until the server ends it: by default after 5 to 10 minutes.

        Without a resourceVersion, it starts with an ADDED event for each existing object, in any order. Bookmarks are
        left out. Raises the error that the server sends in the stream, such as `Expired`. A caller that leaves early
        must close the generator (`contextlib.aclosing`).
        """
        return one_by_one(self.watch_batches(options))

    def watch_batches(self, options: ListOptions = ListOptions()) -> AsyncGenerator[Sequence[WatchEvent[T]], None]:
        """Yield events as `watch` does, in batches as they arrive."""
        return decoded_events(self.list_watch().watch(options), self.object_type)

    def follow(self, options: ListOptions = ListOptions()) -> AsyncGenerator[WatchEvent[T], None]:
        """Yield the events since `options.resource_version`, over as many watches as needed. Ends only with an error.

        Without a resourceVersion, it starts with an ADDED event for each existing object. Lost connections, 429 and 5xx
        are retried. Raises `Expired` if the server no longer has the resourceVersion: start again.
        """
        return one_by_one(self.follow_batches(options))

    def follow_batches(self, options: ListOptions = ListOptions()) -> AsyncGenerator[Sequence[WatchEvent[T]], None]:
        """Yield events as `follow` does, in batches as they arrive."""
        return decoded_events(follow(self.list_watch(), options, backoff=WATCH_BACKOFF), self.object_type)

    def list_watch(self, *, label_selector: str = "", field_selector: str = "") -> ResourceListWatch:
        """Return raw lists and watches of the objects that match the selectors: the source of an informer."""
        endpoint = self._endpoint
        return ResourceListWatch(
            endpoint.rest,
            endpoint.info,
            endpoint.namespace,
            label_selector,
            field_selector,
            list_accept=endpoint.list_accept,
            accept=endpoint.accept,
        )

    def list_watch_of(self, name: str) -> ResourceListWatch:
        """Return raw lists and watches of a single object. Raises `ValueError` as `get` does."""
        self._endpoint.path_of(name)
        return self.list_watch(field_selector=f"metadata.name={name}")

    # Writing

    async def create(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Create an object and return it as stored. Raises `AlreadyExists`, `Invalid`."""
        path = self._endpoint.collection_path(self._endpoint.namespace_of(obj))
        body = self.object_type.encode(obj)
        return decoded(self.object_type, await self._endpoint.send("POST", path, body, options=options))

    async def update(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Replace an object. Raises `Conflict` if it has changed since `obj` was read (see `retry_on_conflict`).

        Fields that `T` does not declare keep their values as read, as long as `obj` has the `metadata` that was read.
        """
        return await self._put(obj, "", options)

    async def update_status(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Replace an object's status; the other fields of `obj` are not written. Raises `Conflict`."""
        return await self._put(obj, "status", options)

    async def patch(
        self, name: str, patch: Patch, options: WriteOptions = WriteOptions(), *, subresource: str = ""
    ) -> T:
        """Patch an object. Raises `NotFound`, `Conflict`, `Invalid`."""
        path = self._endpoint.path_of(name, subresource)
        return decoded(self.object_type, await self._endpoint.patch(path, patch, options=options))

    async def apply(self, obj: T | Object, *, field_manager: str = "", force: bool = False, subresource: str = "") -> T:
        """Create or change the object with server-side apply. The manager then owns the fields of `obj`.

        The manager loses ownership of fields that it applied before and now omits. A dict needs only the fields to
        apply.

        Raises `Conflict` if the apply changes fields of other managers, unless `force`. Raises `ValueError` without a
        manager.
        """
        options = WriteOptions(field_manager=field_manager, force=force)
        return decoded(self.object_type, await self._apply(obj, options, subresource))

    async def diff(
        self, obj: T | Object, *, field_manager: str = "", force: bool = False, subresource: str = ""
    ) -> ApplyDiff:
        """Return what `apply` with these arguments would change, as `kubectl diff --server-side` does.

        `print(await boats.diff(boat))` prints the changed lines. Nothing is written: the server runs the apply as a dry
        run, with defaults and admission. Reads from the server, also on a cached client. Raises the errors of `apply`.
        """
        options = WriteOptions(field_manager=field_manager, force=force, dry_run=True)
        for _ in range(_DIFF_TRIES):
            before = await self._present(obj)
            after: Object = json.decode(await self._apply(obj, options, subresource))
            if before is None or before["metadata"]["resourceVersion"] == after["metadata"].get("resourceVersion"):
                break  # Otherwise another client has changed the object in between.
        return ApplyDiff(before, after)

    async def _present(self, obj: T | Object) -> Object | None:
        path = self._endpoint.path_of(names_of(obj)[1], namespace=self._endpoint.namespace_of(obj))
        try:
            found: Object = json.decode(await self._endpoint.rest.call("GET", path))
        except NotFound:
            return None
        return found

    async def _apply(self, obj: T | Object, options: WriteOptions, subresource: str) -> bytes:
        if not self._endpoint.with_defaults(options).field_manager:
            raise ValueError("apply needs a field manager: set field_manager here or on the client")
        fields = dict(obj) if isinstance(obj, dict) else self.to_dict(obj)
        # The server refuses an apply with managedFields: the request itself is about to change them.
        metadata = {key: value for key, value in (fields.get("metadata") or {}).items() if key != "managedFields"}
        path = self._endpoint.path_of(
            metadata.get("name", ""), subresource, namespace=self._endpoint.namespace_of(fields)
        )
        patch = ApplyPatch({**fields, "metadata": metadata})
        return await self._endpoint.patch(path, patch, options=options)

    async def delete(self, name: str, options: DeleteOptions = DeleteOptions()) -> T | None:
        """Request the deletion of an object.

        Returns the object if the response contains it: finalizers or graceful deletion may keep it for a while. Raises
        `NotFound`. Raises `Conflict` if a precondition fails.
        """
        body = await self._endpoint.rest.call("DELETE", self._endpoint.path_of(name), **self._deletion(options))
        try:
            if object_head(body).kind == "Status":
                return None
        except json.UNREADABLE as error:
            raise Undecodable(f"cannot decode response to delete: {error}", body) from error
        return decoded(self.object_type, body)

    async def delete_collection(
        self, options: DeleteOptions = DeleteOptions(), selection: ListOptions = ListOptions()
    ) -> None:
        """Request the deletion of all objects that match the selection. The server deletes them one by one."""
        arguments = self._deletion(options)
        # The response is a list of the deleted objects.
        arguments["headers"] = {"accept": self._endpoint.list_accept}
        await self._endpoint.rest.call("DELETE", self._endpoint.collection_path(), query=selection.query(), **arguments)

    # Subresources

    @property
    def status(self) -> SubresourceClient[T]:
        """Client of the `status` subresource."""
        return SubresourceClient(self._endpoint, "status", self.object_type)

    @property
    def scale(self) -> SubresourceClient[Scale]:
        """Client of the `scale` subresource."""
        return SubresourceClient(self._endpoint, "scale", scale_of(self.object_type.info))

    def subresource(self, name: str) -> SubresourceClient[Object]:
        """Return the client of another subresource (`token`, `binding`, `resize` …). Its objects are dicts."""
        return SubresourceClient(self._endpoint, name, dynamic(self.object_type.info))

    async def evict(self, name: str, options: DeleteOptions = DeleteOptions()) -> None:
        """Delete a Pod if its disruption budgets allow it.

        Raises `TooManyRequests` if they forbid it at present. `has_cause("DisruptionBudget")` distinguishes this from
        an overloaded server.
        """
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": self.namespace},
            "deleteOptions": self._deletion_body(options),
        }
        await self.subresource("eviction").create(name, eviction)

    def decode(self, body: bytes) -> T:
        """Decode an object from its JSON. Raises `Undecodable`."""
        return decoded(self.object_type, body)

    def to_dict(self, obj: T) -> Object:
        """Encode an object as the client sends it. Raises `ValueError`."""
        fields: Object = json.decode(self.object_type.encode(obj))
        return fields

    async def _put(self, obj: T, subresource: str, options: WriteOptions) -> T:
        path = self._endpoint.path_of(names_of(obj)[1], subresource, namespace=self._endpoint.namespace_of(obj))
        body = self.object_type.encode_update(obj)
        return decoded(self.object_type, await self._endpoint.send("PUT", path, body, options=options))

    def _deletion(self, options: DeleteOptions) -> dict[str, Any]:
        return {"body": json.encode(self._deletion_body(options)), "headers": {"accept": self._endpoint.accept}}

    def _deletion_body(self, options: DeleteOptions) -> Object:
        return replace(options, dry_run=options.dry_run or self._endpoint.write_options.dry_run).body()
