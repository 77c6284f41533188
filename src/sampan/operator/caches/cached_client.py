"""`CachedClient`: a client that reads from informers, writes to the server, and reads its own writes.

Only watched kinds are read from a cache. A read of any other kind requests it from the server, and never starts an
informer of the whole cluster.

Guarantees: a read sees every write that was made through the same `CachedClient` and had returned before. If necessary
it waits for the cache, usually some milliseconds. Writes of other clients are visible when the cache has them; `direct`
reads from the server. If the server refuses a write because the object has changed, already exists or no longer exists,
the cache is behind: the next read of that object goes to the server.

Source: controller-runtime pkg/client/client.go (0.24), designs on read-your-own-writes (#3320).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, TypeVar, overload

from sampan.client.client import Client
from sampan.client.errors import NotFound, api_error
from sampan.client.objects.object_list import ObjectList
from sampan.client.objects.partial_metadata import PartialObjectMetadata
from sampan.client.options import DeleteOptions, ListOptions, WriteOptions
from sampan.client.patch import Patch
from sampan.client.resource_client import ResourceClient
from sampan.client.resource_endpoint import ResourceEndpoint, names_of
from sampan.client.subresource_client import SubresourceClient
from sampan.client.watching.pager import PAGE_SIZE
from sampan.core.errors import not_found
from sampan.informer.group import InformerGroup
from sampan.informer.key import join_key, split_key
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.caches.cache import InformerCache
from sampan.operator.caches.kind_cache import KindCache
from sampan.operator.caches.namespace_caches import NamespaceCaches
from sampan.operator.caches.selection import Selection
from sampan.operator.request import Request
from sampan.resource import Object, ObjectType, ResourceInfo, TypedResource, dynamic, object_type

T = TypeVar("T")

Caches = Mapping[ResourceInfo, KindCache]
_NO_CACHES: Final[Caches] = {}


class CachedResourceClient(ResourceClient[T]):
    """Client of a resource whose `get`, `list` and `list_all` read the cache. Everything else is as in
    `ResourceClient`.

    A list with a field selector, a page or a resourceVersion goes to the server, and so does a `get` with a
    resourceVersion.
    """

    def __init__(
        self, endpoint: ResourceEndpoint, object_type: ObjectType[T], caches: Caches, parallel: Caches = _NO_CACHES
    ) -> None:
        """`caches` are read; `parallel` have other parts of the same objects, and get the writes as well."""
        super().__init__(endpoint, object_type)
        self._caches = caches
        self._parallel = parallel

    def in_namespace(self, namespace: str) -> "CachedResourceClient[T]":
        """Return the same client for another namespace; "" for all."""
        direct = super().in_namespace(namespace)
        return CachedResourceClient(direct._endpoint, self.object_type, self._caches, self._parallel)

    def with_timeout(self, request_timeout_s: float) -> "CachedResourceClient[T]":
        """Return the same client with another limit for the server's responses; `math.inf` for no limit."""
        endpoint = self._endpoint.with_timeout(request_timeout_s)
        return CachedResourceClient(endpoint, self.object_type, self._caches, self._parallel)

    async def get(self, name: str, *, resource_version: str | None = None) -> T:
        """Return one object, from the cache. Raises `NotFound`, `StaleCache`."""
        cache = self._cache
        if cache is None or resource_version is not None:
            return await super().get(name, resource_version=resource_version)
        self._endpoint.path_of(name)  # Refuses names that the server refuses, too.
        key = join_key(self.namespace, name)
        if cache.is_outdated(key):
            return await self._fetch(cache, key)
        ref = await cache.get(key)
        if ref is None:
            error = not_found(self.object_type.info.gvr.group_resource, name)
            raise api_error({"reason": error.reason, "code": 404, "message": error.message, "details": error.details})
        return self.object_type.decode(ref.raw)

    async def find(self, request: Request) -> T | None:
        """Return the object of a reconcile request; None if it no longer exists. Raises `StaleCache`."""
        try:
            return await self.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return None

    async def list(self, options: ListOptions = ListOptions()) -> ObjectList[T]:
        """Return all objects that match the label selector, from the cache, sorted by namespace and name. Raises
        `StaleCache`.
        """
        cache = self._cache
        if cache is None or not _only_labels(options):
            return await super().list(options)
        await self._fetch_outdated(cache)
        refs = await cache.refs(self.namespace, options.label_selector)
        refs.sort(key=lambda ref: ref.key)
        return ObjectList([self.object_type.decode(ref.raw) for ref in refs], cache.resource_version)

    async def list_all(self, options: ListOptions = ListOptions(), *, page_size: int = PAGE_SIZE) -> ObjectList[T]:
        """Return the same as `list`. If the cache cannot serve the list, read pages from the server."""
        if self._cache is None or not _only_labels(options):
            return await super().list_all(options, page_size=page_size)
        return await self.list(options)

    async def by_index(self, name: str, *values: str) -> Sequence[T]:
        """Return the objects that an index of the kind's informer has under any of the values.

        The result covers all watched namespaces, includes this client's own writes and is unordered. Raises
        `StaleCache`; `LookupError` if the kind is not watched or the index does not exist.
        """
        cache = self._caches.get(self.object_type.info)
        if cache is None:
            raise LookupError(f"{self.object_type.info.gvr.group_resource} is not watched, so it has no indexes")
        await self._fetch_outdated(cache)
        return [self.object_type.decode(ref.raw) for ref in await cache.by_index(name, values)]

    async def create(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Create an object. Raises `AlreadyExists`, `Invalid`."""
        with self._refusals(obj):
            return self._wrote(await super().create(obj, options))

    async def patch(
        self, name: str, patch: Patch, options: WriteOptions = WriteOptions(), *, subresource: str = ""
    ) -> T:
        """Change an object. Raises `NotFound`, `Conflict`, `Invalid`."""
        with self._refusals(name):
            return self._wrote(await super().patch(name, patch, options, subresource=subresource))

    async def apply(self, obj: T | Object, *, field_manager: str = "", force: bool = False, subresource: str = "") -> T:
        """Server-side apply. Raises `Conflict`."""
        with self._refusals(obj):
            applied = await super().apply(obj, field_manager=field_manager, force=force, subresource=subresource)
            return self._wrote(applied)

    async def update(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Replace an object. Raises `Conflict`, and `ValueError` if the cache does not store the whole object."""
        cache = self._caches.get(self.object_type.info)
        if cache is not None and cache.is_partial:
            resource = self.object_type.info.gvr.group_resource
            raise ValueError(
                f"the cache of {resource} removes fields, which an update would delete: use patch or apply"
            )
        with self._refusals(obj):
            return self._wrote(await super().update(obj, options))

    async def update_status(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Replace an object's status. Raises `Conflict`."""
        with self._refusals(obj):
            return self._wrote(await super().update_status(obj, options))

    async def delete(self, name: str, options: DeleteOptions = DeleteOptions()) -> T | None:
        """Request the deletion of an object. Raises `NotFound`, `Conflict`."""
        key = join_key(self.namespace, name)
        try:
            with self._refusals(name):
                response = await super().delete(name, options)
        except NotFound:
            self._deleted(key, None)
            raise
        if not (options.dry_run or self._endpoint.write_options.dry_run):
            self._deleted(key, response)
        return response

    @property
    def status(self) -> SubresourceClient[T]:
        """Client of the status of objects."""
        return _StatusClient(self._endpoint, self.object_type, self._wrote, self._refusals)

    @property
    def _cache(self) -> KindCache | None:
        """Cache of these objects; None if there is none (yet). The cache may be created later than this client."""
        cache = self._caches.get(self.object_type.info)
        return cache if cache is not None and cache.holds(self.namespace) else None

    async def _fetch(self, cache: KindCache, key: str) -> T:
        """Read an object from the server, and make later reads of the cache wait for this version."""
        namespace, name = split_key(key)
        try:
            obj = await ResourceClient.get(self.in_namespace(namespace), name)
        except NotFound:
            cache.fetched(key, None)
            raise
        cache.fetched(key, obj)
        return obj

    async def _fetch_outdated(self, cache: KindCache) -> None:
        for key in cache.outdated():
            try:
                await self._fetch(cache, key)
            except NotFound:
                continue

    def _refusals(self, written: T | Object | str) -> AbstractContextManager[None]:
        """Wrap a write of an object, or of the object with this name."""
        cache = self._caches.get(self.object_type.info)
        if isinstance(written, str):
            namespace, name = self.namespace, written
        else:
            namespace, name = self._endpoint.namespace_of(written), names_of(written)[1]
        if cache is None or not name or not cache.holds(namespace):
            return nullcontext()
        return cache.refusals(join_key(namespace, name))

    def _wrote(self, obj: T) -> T:
        for cache in self._written_caches():
            cache.wrote(obj)
        return obj

    def _deleted(self, key: str, response: T | None) -> None:
        for cache in self._written_caches():
            cache.deleted(key, response)

    def _written_caches(self) -> Iterator[KindCache]:
        """Yield the caches that own writes concern."""
        for caches in (self._caches, self._parallel):
            cache = caches.get(self.object_type.info)
            if cache is not None:
                yield cache


def _only_labels(options: ListOptions) -> bool:
    return options == ListOptions(label_selector=options.label_selector)


class _StatusClient(SubresourceClient[T]):
    def __init__(
        self,
        endpoint: ResourceEndpoint,
        object_type: ObjectType[T],
        wrote: Callable[[T], T],
        refusals: Callable[[T | Object | str], AbstractContextManager[None]],
    ) -> None:
        super().__init__(endpoint, "status", object_type)
        self._wrote = wrote
        self._refusals = refusals

    async def update(self, name: str, obj: T, options: WriteOptions = WriteOptions()) -> T:
        with self._refusals(name):
            return self._wrote(await super().update(name, obj, options))

    async def patch(self, name: str, patch: Patch, options: WriteOptions = WriteOptions()) -> T:
        with self._refusals(name):
            return self._wrote(await super().patch(name, patch, options))


class CachedClient:
    """Client whose resources are read from caches, if there are any. Many tasks may share it."""

    def __init__(self, direct: Client, *, timeout_s: float = 10.0) -> None:
        """`timeout_s` limits the time that a read waits for the cache."""
        self.direct = direct
        """Client that always requests from the server."""
        self._timeout_s = timeout_s
        self._caches: dict[ResourceInfo, KindCache] = {}
        self._metadata_caches: dict[ResourceInfo, KindCache] = {}

    def read_from(
        self,
        informer: SharedInformer[Any] | InformerGroup[Any],
        *,
        namespace: str = "",
        selection: Selection | None = None,
        is_partial: bool = False,
    ) -> None:
        """Read a kind from an informer from now on. `namespace` is that of the informer, "" for all.

        `selection` has the selectors of the informer: objects outside appear not to exist, except own writes.
        `is_partial`: a transform removes fields, so that `update` is refused.
        """
        cache = self._cache_of(informer, namespace, selection, is_partial=is_partial)
        self._caches[informer.object_type.info] = cache

    def read_metadata_from(
        self,
        informer: SharedInformer[PartialObjectMetadata] | InformerGroup[PartialObjectMetadata],
        *,
        namespace: str = "",
        selection: Selection | None = None,
    ) -> None:
        """Let `metadata` read a kind from an informer of metadata, from now on. Parameters as for `read_from`."""
        cache = self._cache_of(informer, namespace, selection, is_partial=False)
        self._metadata_caches[informer.object_type.info] = cache

    def _cache_of(
        self,
        informer: SharedInformer[Any] | InformerGroup[Any],
        namespace: str,
        selection: Selection | None,
        *,
        is_partial: bool,
    ) -> KindCache:
        if isinstance(informer, InformerGroup):
            return NamespaceCaches(informer, self._timeout_s, selection=selection, is_partial=is_partial)
        return InformerCache(informer, namespace, self._timeout_s, selection=selection, is_partial=is_partial)

    def is_cached(self, what: ResourceInfo | ObjectType[Any] | type[Any]) -> bool:
        """Return True if a kind is read from a cache."""
        return resource_info(what) in self._caches

    @overload
    def resource(self, what: TypedResource[T], *, namespace: str | None = None) -> CachedResourceClient[T]: ...  # type: ignore[overload-overlap]  # both are dicts

    @overload
    def resource(self, what: ResourceInfo, *, namespace: str | None = None) -> CachedResourceClient[Object]: ...

    @overload
    def resource(self, what: ObjectType[T], *, namespace: str | None = None) -> CachedResourceClient[T]: ...

    @overload
    def resource(self, what: type[T], *, namespace: str | None = None) -> CachedResourceClient[T]: ...

    def resource(
        self, what: ResourceInfo | ObjectType[Any] | type[Any], *, namespace: str | None = None
    ) -> CachedResourceClient[Any]:
        """Return the client of a resource, as `Client.resource` does.

        The client reads from the kind's cache as soon as there is one.
        """
        direct: ResourceClient[Any] = self.direct.resource(what, namespace=namespace)
        return CachedResourceClient(direct._endpoint, direct.object_type, self._caches, self._metadata_caches)

    def metadata(
        self, what: ResourceInfo | ObjectType[Any] | type[Any], *, namespace: str | None = None
    ) -> CachedResourceClient[PartialObjectMetadata]:
        """Return the client of a resource's metadata. It reads from the kind's cache of metadata, if there is one."""
        direct = self.direct.resource(declared_type(what), namespace=namespace).metadata_only()
        return CachedResourceClient(direct._endpoint, direct.object_type, self._metadata_caches, self._caches)


def resource_info(what: ResourceInfo | ObjectType[Any] | type[Any]) -> ResourceInfo:
    """Return the resource of a kind. Raises `TypeError` for an undeclared class."""
    if isinstance(what, ResourceInfo):
        return what
    kind: ObjectType[Any] = what if isinstance(what, ObjectType) else object_type(what)
    return kind.info


def declared_type(what: ResourceInfo | ObjectType[Any] | type[Any]) -> ObjectType[Any]:
    """Return the object type of a kind; for a `ResourceInfo`, that of dicts."""
    if isinstance(what, ResourceInfo):
        return dynamic(what)
    return what if isinstance(what, ObjectType) else object_type(what)
